import { type QueryError, queryError } from 'svc/query';

/** A query that cannot be understood, in the words Loki's clients know; without a place when the whole of it is wrong. */
export function parseError(
  message: string,
  place?: { readonly line: number; readonly column: number },
): QueryError {
  return queryError(
    'bad_data',
    place === undefined
      ? `parse error : ${message}`
      : `parse error at line ${place.line}, col ${place.column}: ${message}`,
  );
}
