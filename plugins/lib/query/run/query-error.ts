import { type ErrorCode, isSvcError, SvcError } from 'svc/sdk';

/** Why a question was not answered, in the words that the HTTP interfaces of all three signals share. */
export type QueryErrorKind = 'bad_data' | 'execution' | 'timeout' | 'canceled' | 'too_large';

export type QueryError = SvcError & { readonly kind: QueryErrorKind };

const codes: Readonly<Record<QueryErrorKind, ErrorCode>> = {
  bad_data: 'invalid_argument',
  execution: 'invalid_argument',
  timeout: 'unavailable',
  canceled: 'unavailable',
  too_large: 'budget_exceeded',
};

/** An SvcError with `kind` as a field of its own, so that it crosses threads. */
export function queryError(kind: QueryErrorKind, message: string, cause?: unknown): QueryError {
  return Object.assign(new SvcError(codes[kind], message, { reason: `query.${kind}`, cause }), {
    kind,
  });
}

/** The kind of anything thrown by a query; errors of other origin have none. */
export function kindOf(error: unknown): QueryErrorKind | undefined {
  const kind: unknown = isSvcError(error) && 'kind' in error ? error.kind : undefined;
  return typeof kind === 'string' && Object.hasOwn(codes, kind)
    ? (kind as QueryErrorKind)
    : undefined;
}
