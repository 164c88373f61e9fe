import { type QueryError, queryError } from 'svc/query';

/**
 * Error for a query that cannot be parsed, in the words that Loki clients know; without a position
 * if it concerns the whole query.
 */
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
