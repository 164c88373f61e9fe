import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

import type { LocalPolicy, Policy } from 'svc/contracts/edge-uplink';
import { type Logger, messageOf } from 'svc/sdk';
import { readText } from 'svc/tunnel';

import { closedPolicy, defaultPolicy } from './profiles.ts';
import { readPolicy } from './read-policy.ts';

/**
 * Plugins that only measure this machine. An invalid file does not stop them: an owner who mistypes
 * a path must not lose the alerts of the machine.
 */
const measuring: readonly string[] = ['hostmetrics', 'procmetrics'];

/** Policy in `policy.yaml` of the data folder; what it omits has the default. */
export class PolicyFile implements LocalPolicy {
  readonly path: string;
  readonly #log: Logger;
  #stamp: string | undefined;
  #policy = defaultPolicy;
  #problem: string | undefined;

  constructor(dataDir: string, log: Logger) {
    this.path = join(dataDir, 'policy.yaml');
    this.#log = log;
  }

  current(): Policy {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}` : '';
    if (stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#problem = undefined;
      this.#policy = stat ? this.#read() : defaultPolicy;
    }
    return this.#policy;
  }

  /** Problems of the file with their lines, and what applies until they are corrected. */
  get problem(): string | undefined {
    this.current();
    return this.#problem;
  }

  /** False while there is no file, so that the defaults apply. */
  get exists(): boolean {
    this.current();
    return this.#stamp !== '';
  }

  #read(): Policy {
    const { policy, problems, pluginsUnclear } = this.#parsed();
    if (problems.length === 0) {
      return policy;
    }
    this.#problem = `${this.path} is invalid: ${problems.join('; ')}`;
    this.#log.error(
      { event: 'uplink.policy_invalid', file: this.path, problems },
      'policy file is invalid; the sections named allow nothing until it is corrected',
    );
    const { allowed } = this.#policy.plugins;
    return pluginsUnclear
      ? {
          ...policy,
          plugins: {
            allowed: measuring.filter((name) => allowed.includes('*') || allowed.includes(name)),
          },
        }
      : policy;
  }

  #parsed(): ReturnType<typeof readPolicy> {
    try {
      return readPolicy(readText(this.path) ?? '');
    } catch (error) {
      const { username } = userInfo();
      return {
        policy: closedPolicy,
        problems: [
          `${messageOf(error)}; make it readable for the user ${username}. Until then, only metrics of the machine are collected`,
        ],
        pluginsUnclear: true,
      };
    }
  }
}
