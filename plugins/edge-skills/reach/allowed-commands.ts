import { type CommandResult, isUnsaid, type Order, saidOf } from 'svc/check';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';

import { errors } from './errors.ts';
import type { MachinePrograms } from './machine-programs.ts';

const maxOutput = 16_384;
/** Commands that run at a time: the machine has other work to do. */
const maxAtOnce = 16;
/** Beyond the time of the probe, whose signal ends the command first. */
const graceMs = 2_000;

/** Commands that the owner of this machine has written down; the manager names one, and adds nothing to it. */
export class AllowedCommands {
  readonly #policy: LocalPolicy;
  readonly #programs: Pick<MachinePrograms, 'find' | 'run'>;
  #running = 0;

  constructor(policy: LocalPolicy, programs: Pick<MachinePrograms, 'find' | 'run'>) {
    this.#policy = policy;
    this.#programs = programs;
  }

  /** Runs a command; throws where it cannot tell how what it looks at is. */
  async run(
    name: string,
    order: Pick<Order, 'conditions' | 'timeout_ms'>,
    signal: AbortSignal,
  ): Promise<CommandResult> {
    const { program, args } = this.#find(name);
    const file = this.#programs.find(program);
    if (file === undefined) {
      throw errors.no_command_program({ name, program });
    }
    if (this.#running >= maxAtOnce) {
      throw errors.too_many_commands({ name, maxAtOnce });
    }
    this.#running++;
    const result = await this.#programs
      .run(file, args, { timeoutMs: order.timeout_ms + graceMs, maxBytes: maxOutput, signal })
      .finally(() => this.#running--);
    const { code, output, errors: printed, cut } = result;
    const text = Buffer.from(output).toString('utf8') || printed;
    if (code === null || isUnsaid(order, code)) {
      throw errors.command_unsaid({
        name,
        end: code === null ? (cut === 'size' ? 'too much output' : 'a signal') : `code ${code}`,
        said: saidOf(text).detail || 'it said nothing',
      });
    }
    return { code, output: text };
  }

  #find(name: string): { readonly program: string; readonly args: readonly string[] } {
    const { commands } = this.#policy.current().skills;
    const line = commands.find((one) => one.startsWith(`${name}=`));
    if (line === undefined) {
      throw errors.command_not_allowed({ name });
    }
    const [program = '', ...args] = line.slice(name.length + 1).split(/ +/);
    return { program, args };
  }
}
