import { unzipSync } from 'node:zlib';

import { SvcError } from 'svc/sdk';

/** What a body may grow to. */
export interface InflateLimit {
  readonly maxBytes: number;
}

export function tooLarge(maxBytes: number): SvcError {
  return new SvcError('invalid_argument', `the body holds more than ${maxBytes} bytes when it is unpacked: send it in smaller parts`, { status: 413 });
}

/** Unpacks gzip, and what HTTP calls deflate. Stops at `maxBytes`, so that a small body cannot fill the memory. */
export function gunzip(input: Uint8Array, { maxBytes }: InflateLimit): Uint8Array {
  try {
    return unzipSync(input, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes);
    }
    throw new SvcError('invalid_argument', 'gzip: corrupt input', { cause: error });
  }
}
