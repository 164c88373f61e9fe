import type { RequestHeaders } from 'svc/sdk';

/** Bytes of a file, the last one included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What `Range: bytes=N-` or `bytes=N-M` asks for of a file, if it still is the one that `If-Range` names. Undefined for every other
 * wish: the whole of it, which is always a right answer.
 */
export function byteRangeOf(
  { range = '', 'if-range': sameAs }: RequestHeaders,
  sizeBytes: number,
  tag: string,
): ByteRange | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range) ?? [];
  const first = Number(from);
  const last = Math.min(to === '' ? Infinity : Number(to), sizeBytes - 1);
  return from !== '' && first <= last && (sameAs === undefined || sameAs === tag)
    ? { first, last }
    : undefined;
}
