import {
  type ErrorCode,
  errorStatus,
  type FieldProblem,
  isSvcError,
  type LogFields,
  type MessageCode,
  messageOf,
  SvcError,
} from '../sdk/index.ts';

/** Data that a thread is started with. */
export interface ThreadStart {
  readonly data: unknown;
  readonly skewMs: number;
}

/**
 * Message of the host. `skewMs` is the offset of its clock from the system's: a test may have set
 * it.
 */
export type ToThread =
  | {
      readonly t: 'call';
      readonly id: number;
      readonly method: string;
      readonly input: unknown;
      readonly skewMs: number;
    }
  | { readonly t: 'cancel'; readonly id: number }
  | { readonly t: 'ping'; readonly skewMs: number }
  | { readonly t: 'heard'; readonly count: number }
  | { readonly t: 'close'; readonly graceMs: number };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One-way message, counted so that a slow host is not overwhelmed. */
export type Told =
  | { readonly t: 'notice'; readonly kind: string; readonly value: unknown }
  | {
      readonly t: 'log';
      readonly level: LogLevel;
      readonly fields: LogFields;
      readonly message: string;
    };

/** Message of the thread. */
export type FromThread =
  | Told
  | { readonly t: 'opened' }
  | { readonly t: 'unopened'; readonly error: CarriedError }
  | {
      readonly t: 'reply';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: CarriedError;
    }
  | { readonly t: 'pong'; readonly heapBytes: number }
  | { readonly t: 'closed'; readonly error?: CarriedError };

/** One-way messages that may be on their way at once; further ones are dropped, and counted. */
export const maxUnheard = 10_000;
/** Number of messages after which the host confirms receipt. */
export const heardEvery = 500;

/** An error on its way between threads; structured clones lose its class and its own fields. */
export interface CarriedError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Undefined for an error that was not meant for users. */
  readonly code?: ErrorCode;
  readonly status?: number;
  readonly reason?: MessageCode | undefined;
  readonly details?: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly kind?: string;
}

export function carried(error: unknown): CarriedError {
  const message = messageOf(error);
  if (!isSvcError(error)) {
    return { message, stack: error instanceof Error ? error.stack : undefined };
  }
  const { code, status, reason, details, retryAfterSeconds } = error;
  const { kind } = error as { kind?: unknown };
  // A refusal is complete without a stack.
  const stack = code === 'internal' ? error.stack : undefined;
  return {
    message,
    stack,
    code,
    status,
    reason,
    details,
    retryAfterSeconds,
    ...(typeof kind === 'string' && { kind }),
  };
}

/** Reconstructs an error of the other side; a fault with its original stack. */
export function revived({
  message,
  stack,
  code,
  status,
  reason,
  details,
  retryAfterSeconds,
  kind,
}: CarriedError): Error {
  const error =
    code === undefined || !Object.hasOwn(errorStatus, code)
      ? new Error(message)
      : new SvcError(code, message, { status, reason, details, retryAfterSeconds });
  if (stack !== undefined) {
    error.stack = stack;
  }
  return kind === undefined ? error : Object.assign(error, { kind });
}
