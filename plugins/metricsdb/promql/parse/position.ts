import { queryError } from 'svc/query';

/** A stretch of the query text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** `line:col`, both from 1, columns in bytes as other PromQL engines count them. */
export function lineAndColumn(query: string, position: number): string {
  const before = query.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  return `${line}:${Buffer.byteLength(before.slice(lineStart)) + 1}`;
}

export function parseError(query: string, position: number, reason: string): Error {
  return queryError('bad_data', `${lineAndColumn(query, position)}: parse error: ${reason}`);
}

/** Error during the execution of a valid query. */
export function executionError(reason: string): Error {
  return queryError('execution', reason);
}
