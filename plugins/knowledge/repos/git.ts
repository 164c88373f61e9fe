import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ForeignPrograms, ProgramOwner, RunResult } from 'svc/contracts/programs';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';

/** Configuration by which a call reaches its server; a call without it reaches none. */
export interface Reach {
  readonly config: readonly (readonly [key: string, value: string])[];
  readonly env: Readonly<Record<string, string>>;
}

export interface GitCall {
  readonly args: readonly string[];
  readonly reach?: Reach;
  readonly input?: Uint8Array;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface GitParts {
  readonly programs: Handle<ForeignPrograms>;
  readonly owner: ProgramOwner;
}

/** Min version of git, which can connect to an address that was checked (http.curloptResolve). */
const oldest = [2, 37] as const;
const usualMs = 60_000;
const usualBytes = 1024 * 1024;

/**
 * Configuration that keeps servers, repositories and this host's user from changing what git does.
 */
const closed: readonly (readonly [string, string])[] = [
  ['protocol.allow', 'never'],
  ['protocol.https.allow', 'always'],
  ['protocol.ssh.allow', 'always'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.bigFileThreshold', '1m'],
  ['core.symlinks', 'false'],
  ['transfer.fsckObjects', 'true'],
  ['transfer.bundleURI', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['submodule.recurse', 'false'],
  ['credential.helper', ''],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '30'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['pack.threads', '1'],
  ['safe.directory', '*'],
];

/** The machine's git in a closed environment: no configuration of a user or the system, no hooks, no prompts, two protocols. */
export class Git {
  readonly #parts: GitParts;
  #fits: string | undefined;

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  /**
   * Returns the absolute path of another program of the host; throws with the package that contains
   * it.
   */
  find(name: string, debian: string): string {
    const { programs } = this.#parts;
    if (!programs.available) {
      throw errors.programs_away();
    }
    const file = programs.get().find(name);
    if (file === undefined) {
      throw errors.program_missing({ name, debian });
    }
    return file;
  }

  /** Runs it in a bare repository; what went wrong is in the answer. */
  async run(
    folder: string,
    { args, reach, input, timeoutMs = usualMs, maxBytes = usualBytes, signal }: GitCall,
  ): Promise<RunResult> {
    const file = this.find('git', 'git');
    const { programs, owner } = this.#parts;
    const home = join(owner.dataDir, 'empty');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const config = [...closed, ...(reach?.config ?? [])];
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: home,
      XDG_CONFIG_HOME: home,
      LC_ALL: 'C',
      TZ: 'UTC',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '/bin/false',
      SSH_ASKPASS: '/bin/false',
      GIT_ALLOW_PROTOCOL: reach === undefined ? 'none' : 'https:ssh',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_NO_LAZY_FETCH: '1',
      GIT_DIR: folder,
      GIT_CONFIG_COUNT: String(config.length),
      ...Object.fromEntries(
        config.flatMap(([key, value], i) => [
          [`GIT_CONFIG_KEY_${i}`, key] as const,
          [`GIT_CONFIG_VALUE_${i}`, value] as const,
        ]),
      ),
      ...reach?.env,
    };
    await this.#requireFit(file, env);
    const options = {
      env,
      timeoutMs,
      maxBytes,
      ...(input !== undefined && { input }),
      ...(signal !== undefined && { signal }),
    };
    return await programs.get().run(owner, file, args, options);
  }

  async #requireFit(file: string, env: Readonly<Record<string, string>>): Promise<void> {
    if (this.#fits === file) {
      return;
    }
    const { programs, owner } = this.#parts;
    const { output } = await programs
      .get()
      .run(owner, file, ['--version'], { env, timeoutMs: usualMs, maxBytes: usualBytes });
    const [, major, minor] =
      /git version (\d+)\.(\d+)/.exec(Buffer.from(output).toString('latin1')) ?? [];
    if (
      major === undefined ||
      Number(major) < oldest[0] ||
      (Number(major) === oldest[0] && Number(minor) < oldest[1])
    ) {
      throw errors.git_too_old({
        oldest: oldest.join('.'),
        file,
        major: major ?? '?',
        minor: minor ?? '?',
      });
    }
    this.#fits = file;
  }
}
