/** The closed table of error codes; the HTTP status of each is fixed here and nowhere else. */
export const errorStatus = {
  invalid_argument: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  budget_exceeded: 429,
  internal: 500,
  upstream_error: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One complaint about one field; `path` is a JSON pointer into the part of the request it names. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * Names one sentence of the product for good, so that it can be looked up whatever its wording: area first, `storage.volume_full`.
 * It stands at one place of the sources and is never given to another sentence.
 */
export type MessageCode = `${string}.${string}`;

export interface ErrorExtras {
  /** Which of the sentences under its code this is; sent as `x-svc-reason` and logged. */
  readonly reason?: MessageCode | undefined;
  readonly details?: readonly FieldProblem[] | undefined;
  /** Delay sent as `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Status, only if the table allows a second one: 413 and 415 of invalid_argument, 405 of
   * not_found.
   */
  readonly status?: number | undefined;
  /** Headers sent with the answer, for protocols that say more in them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

const brand = Symbol.for('svc.error');

/** The one error that reaches a user: a code of the table and a sentence that names cause and fix. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: MessageCode | undefined;
  readonly details: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.status = extras.status ?? errorStatus[code];
    this.reason = extras.reason;
    this.details = extras.details;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.headers = extras.headers;
  }
}

/**
 * Recognizes an error by brand, not by class: it may come from a plugin generation with its own
 * copy of this file.
 */
export function isSvcError(error: unknown): error is SvcError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The text of anything thrown, for a log line or a `cause` field. Never a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
