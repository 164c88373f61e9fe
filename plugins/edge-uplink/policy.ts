import { statSync } from 'node:fs';
import { join } from 'node:path';

import type { LocalPolicy, Policy } from 'svc/contracts/edge-uplink';
import { type Logger, messageOf } from 'svc/sdk';
import { readText } from 'svc/tunnel';
import { parse } from 'yaml';

import { errors } from './errors.ts';

/**
 * Policy without a file: a shell through the host's own sshd, no access to the surrounding network,
 * logs in their usual places. Skills read logs, and probe other hosts: `*` excludes the loopback
 * and the link, which have to be named.
 */
export const defaultPolicy: Policy = {
  tcp: ['127.0.0.1:22'],
  webshell: true,
  skills: {
    enabled: true,
    paths: ['/var/log/**', '/etc/os-release', '/usr/lib/os-release'],
    services: [],
    probes: ['*:*'],
  },
  plugins: { allowed: ['*'] },
  logs: { paths: ['/var/log/**'] },
};

/** Policy of an invalid file: nothing is allowed. */
const closedPolicy: Policy = {
  tcp: [],
  webshell: false,
  skills: { enabled: false, paths: [], services: [], probes: [] },
  plugins: { allowed: [] },
  logs: { paths: [] },
};

const maxEntries = 256;

/** Policy in `policy.yaml` of the data folder; what it omits has the default. */
export class PolicyFile implements LocalPolicy {
  readonly #file: string;
  readonly #log: Logger;
  #stamp: string | undefined;
  #policy = defaultPolicy;

  constructor(dataDir: string, log: Logger) {
    this.#file = join(dataDir, 'policy.yaml');
    this.#log = log;
  }

  current(): Policy {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : '';
    if (stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#policy = stat ? this.#read() : defaultPolicy;
    }
    return this.#policy;
  }

  #read(): Policy {
    try {
      return readPolicy(readText(this.#file) ?? '');
    } catch (error) {
      this.#log.error(
        { event: 'uplink.policy_invalid', file: this.#file, cause: messageOf(error) },
        'policy file is invalid; nothing is allowed until it is corrected',
      );
      return closedPolicy;
    }
  }
}

export function readPolicy(text: string): Policy {
  const given = section(parse(text, { maxAliasCount: 0, schema: 'core' }), 'the policy', [
    'tcp',
    'webshell',
    'skills',
    'plugins',
    'logs',
  ]);
  const skills = section(given['skills'], 'skills', ['enabled', 'paths', 'services', 'probes']);
  const plugins = section(given['plugins'], 'plugins', ['allowed']);
  const logs = section(given['logs'], 'logs', ['paths']);
  const usual = defaultPolicy;
  return {
    tcp: texts(given['tcp'], 'tcp', usual.tcp, /^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/),
    webshell: flag(given['webshell'], 'webshell', usual.webshell),
    skills: {
      enabled: flag(skills['enabled'], 'skills.enabled', usual.skills.enabled),
      paths: texts(skills['paths'], 'skills.paths', usual.skills.paths, /^\//),
      probes: texts(
        skills['probes'],
        'skills.probes',
        usual.skills.probes,
        /^(\[[0-9a-fA-F:]+(\/\d{1,3})?\]|[^\s:[\]]+):(\*|\d{1,5}(-\d{1,5})?)$/,
      ),
      services: texts(skills['services'], 'skills.services', usual.skills.services, /^[\w@.:-]+$/),
    },
    plugins: {
      allowed: texts(
        plugins['allowed'],
        'plugins.allowed',
        usual.plugins.allowed,
        /^(\*|[a-z][a-z0-9_-]*)$/,
      ),
    },
    logs: { paths: texts(logs['paths'], 'logs.paths', usual.logs.paths, /^\//) },
  };
}

function section(
  value: unknown,
  name: string,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw errors.policy_mapping({ name });
  }
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw errors.policy_key({ name, unknown, known: known.join(', ') });
  }
  return value as Record<string, unknown>;
}

function texts(
  value: unknown,
  name: string,
  usual: readonly string[],
  form: RegExp,
): readonly string[] {
  if (value === undefined) {
    return usual;
  }
  if (
    !Array.isArray(value) ||
    value.length > maxEntries ||
    !value.every((one) => typeof one === 'string' && form.test(one))
  ) {
    throw errors.policy_list({ name, maxEntries, source: form.source });
  }
  return value as string[];
}

function flag(value: unknown, name: string, usual: boolean): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    throw errors.policy_flag({ name });
  }
  return value ?? usual;
}
