import type { ExitCode } from './failure.ts';
import type { Paint } from './paint.ts';
import type { Shell } from './shell.ts';

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Option {
  readonly about: string;
  /** Placeholder of the value in the usage line; absent for a switch. */
  readonly value?: string;
  /** One-letter short form. */
  readonly short?: string;
}

/** One thing that svc can be asked to do. */
export interface Command {
  /** Operands after the name: `<id>` is required, `[dir]` optional. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** Details that the summary of the catalogue leaves out. */
  readonly about: string;
  readonly example: string;
  run(call: Call, shell: Shell): Promise<Result>;
}

/** Invocation of a command, checked against its declaration. */
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

/** Result of a command: one document for scripts, and the same as text for people. */
export interface Result {
  readonly data: unknown;
  text(paint: Paint): string;
  /** Default 0. */
  readonly code?: ExitCode;
}
