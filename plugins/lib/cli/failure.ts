import { type ErrorCode, isSvcError, messageOf } from 'svc/sdk';

/** Exit codes that scripts may rely on; `svc help` prints this table. */
export const exitCodes = {
  0: 'done',
  1: 'failed, or found a problem',
  2: 'unknown command or invalid arguments',
  3: 'svc is not running or cannot be reached',
  4: 'refused by the running svc',
  5: 'not done: confirmation needed',
} as const;

export type ExitCode = keyof typeof exitCodes;

/** A command that came to nothing: a sentence for people, a code for scripts. */
export class Failure extends Error {
  readonly exitCode: ExitCode;
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(
    exitCode: ExitCode,
    code: ErrorCode,
    message: string,
    extras: { details?: unknown; cause?: unknown } = {},
  ) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.exitCode = exitCode;
    this.code = code;
    this.details = extras.details;
  }
}

export const usageFailure = (message: string): Failure =>
  new Failure(2, 'invalid_argument', message);

export const unreachable = (message: string, cause?: unknown): Failure =>
  new Failure(3, 'unavailable', message, { cause });

/** Converts anything thrown to a failure; an unexpected error keeps its message. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) {
    return error;
  }
  return isSvcError(error)
    ? new Failure(1, error.code, error.message, { details: error.details, cause: error })
    : new Failure(1, 'internal', messageOf(error), { cause: error });
}
