import type { ForeignPrograms, ProgramOwner, RunOptions, RunResult } from 'svc/contracts/programs';
import type { Handle } from 'svc/sdk';

/** The whole environment of a program of this machine: plain output, and where its own programs are. */
const env: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  SYSTEMD_COLORS: '0',
  SYSTEMD_PAGER: 'cat',
};

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

  async run(
    file: string,
    args: readonly string[],
    options: Omit<RunOptions, 'env'>,
  ): Promise<RunResult> {
    return await this.#programs.get().run(this.#owner, file, args, { ...options, env });
  }
}
