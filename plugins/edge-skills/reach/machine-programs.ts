import type { ForeignPrograms, ProgramOwner, RunOptions, RunResult } from 'svc/contracts/programs';
import type { SkillCall } from 'svc/contracts/edge-skills';
import type { Handle } from 'svc/sdk';

import { plainText } from '../skills/fit-rows.ts';
import { errors } from './errors.ts';

/** The whole environment of a program of this machine: plain output, and where its own programs are. */
const env: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  SYSTEMD_COLORS: '0',
  SYSTEMD_PAGER: 'cat',
};

/** Question to a program of this machine. */
export interface ProgramQuestion {
  readonly args: readonly string[];
  readonly call: Pick<SkillCall, 'signal' | 'timeoutMs'>;
  readonly maxBytes: number;
  /** Variables that it gets besides, such as a password, which no list of processes shows. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
  /** Exit codes that are an answer; default: 0. */
  readonly codes?: readonly number[];
}

export interface ProgramAnswer {
  readonly text: string;
  readonly code: number | null;
  /** True if it printed more than fits. */
  readonly cut: boolean;
}

/** The programs that skills ask; unavailable while the plugin programs is away. */
export class MachinePrograms {
  readonly #owner: ProgramOwner;
  readonly #programs: Handle<ForeignPrograms>;

  constructor(owner: ProgramOwner, programs: Handle<ForeignPrograms>) {
    this.#owner = owner;
    this.#programs = programs;
  }

  find(name: string): string | undefined {
    return this.#programs.get().find(name);
  }

  async run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
    return await this.#programs.get().run(this.#owner, file, args, { env, ...options });
  }

  /** Returns what the program prints; throws in words when it is missing, takes too long or fails. */
  async ask(name: string, skill: string, question: ProgramQuestion): Promise<ProgramAnswer> {
    const { args, call, maxBytes, env: more, input, codes = [0] } = question;
    const file = this.find(name);
    if (file === undefined) {
      throw errors.no_program({ name, skill });
    }
    const result = await this.#programs.get().run(this.#owner, file, args, {
      timeoutMs: call.timeoutMs,
      signal: call.signal,
      maxBytes,
      env: { ...env, ...more },
      ...(input !== undefined && { input: Buffer.from(input) }),
    });
    const text = plainText(Buffer.from(result.output).toString('utf8').replaceAll('\r\n', '\n'));
    if (result.cut === 'time') {
      throw errors.program_slow({ name, seconds: Math.round(call.timeoutMs / 1_000) });
    }
    if (result.cut === undefined && !codes.includes(result.code ?? -1)) {
      const said = plainText(result.errors || text)
        .trim()
        .slice(0, 500);
      throw errors.program_failed({
        name,
        code: `${result.code}`,
        said: said || 'it said nothing',
      });
    }
    return { text, code: result.code, cut: result.cut === 'size' };
  }
}
