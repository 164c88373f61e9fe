import type { RequestHeaders } from 'svc/sdk';

/** Bytes of a file, the last one included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the byte range requested by `Range: bytes=N-` or `bytes=N-M`, if the file is still the
 * one that `If-Range` names. Undefined for any other request: the whole file, which is always a
 * valid answer.
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
