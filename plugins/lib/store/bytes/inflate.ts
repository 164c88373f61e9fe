import { unzipSync } from 'node:zlib';

import { type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/** Limit of an unpacked body. */
export interface InflateLimit {
  readonly maxBytes: number;
}

/**
 * Limit of a body that does not state its size, or states less than it has, like one with several
 * parts.
 */
const maxUnsaid = 1_048_576;
/** Telemetry grows ten to a hundred times; a large body that grows more is made to fill the memory. */
const maxGrowth = 250;
/** Max compression ratio of the format: a body that claims more is truncated. */
const maxPossible = 1_032;
/** Magic number, flags, checksum and size. */
const leastGzip = 18;

export function tooLarge(maxBytes: number): SvcError {
  return errors.body_size({ max: maxBytes });
}

const corrupt = (cause?: unknown): SvcError => errors.gzip({ cause });

/**
 * Unpacks gzip, and what HTTP calls deflate. The claimed size of a body is used first: too large is
 * refused before a byte is unpacked, and otherwise it is unpacked into one piece of memory, rather
 * than thousands that remain when it is freed.
 */
export function gunzip(input: Uint8Array, { maxBytes }: InflateLimit): Uint8Array {
  const said = sizeSaid(input);
  if (said > input.length * maxPossible) {
    throw corrupt();
  }
  if (said > maxBytes) {
    throw tooLarge(maxBytes);
  }
  if (said > maxUnsaid && said > input.length * maxGrowth) {
    throw tooLarge(Math.max(maxUnsaid, input.length * maxGrowth));
  }
  const unsaid = Math.min(maxBytes, maxUnsaid);
  return (
    inflated(input, said) ?? (said < unsaid ? inflated(input, unsaid) : undefined) ?? refuse(unsaid)
  );
}

/** The last four bytes of gzip. */
function sizeSaid(input: Uint8Array): number {
  const isGzip = input.length >= leastGzip && input[0] === 0x1f && input[1] === 0x8b;
  return isGzip
    ? new DataView(input.buffer, input.byteOffset, input.byteLength).getUint32(
        input.length - 4,
        true,
      )
    : 0;
}

/** Undefined when it is larger than that. */
function inflated(input: Uint8Array, size: number): Uint8Array | undefined {
  try {
    return unzipSync(input, { maxOutputLength: Math.max(1, size), chunkSize: size + 64 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      return undefined;
    }
    throw corrupt(error);
  }
}

function refuse(maxBytes: number): never {
  throw tooLarge(maxBytes);
}
