import type { ExitCode } from './failure.ts';
import type { Paint } from './paint.ts';
import type { Shell } from './shell.ts';

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Option {
  readonly about: string;
  /** What the value is, as the usage line shows it; absent: a switch. */
  readonly value?: string;
  /** One letter that stands for it. */
  readonly short?: string;
}

/** One thing that svc can be asked to do. */
export interface Command {
  /** What follows the name: `<id>` must be given, `[dir]` may be. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** What the summary of the catalogue leaves out. */
  readonly about: string;
  readonly example: string;
  run(call: Call, shell: Shell): Promise<Result>;
}

/** How a command was called, checked against what it declares. */
export interface Call {
  /** A required operand, by its place. */
  operand(index: number): string;
  optionalOperand(index: number): string | undefined;
  has(option: string): boolean;
  value(option: string): string | undefined;
  readonly json: boolean;
  /** The process's, with `--data` put in its place. */
  readonly environment: Environment;
}

/** What a command has to say: one document for scripts, the same as text for people. */
export interface Result {
  readonly data: unknown;
  text(paint: Paint): string;
  /** Default 0. */
  readonly code?: ExitCode;
}
