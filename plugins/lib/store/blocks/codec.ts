import * as zlib from 'node:zlib';

import { errors } from './errors.ts';

/** Codecs by number; written into blocks, so never renumber. */
export const codecs = { none: 0, brotli: 1, zstd: 2 } as const;

const runtime = zlib as {
  zstdCompressSync?: (bytes: Uint8Array, options?: object) => Buffer;
  zstdDecompressSync?: (bytes: Uint8Array, options?: object) => Buffer;
};

const largestPiece = 1024 * 1024;

export interface Compressed {
  readonly codec: number;
  readonly bytes: Uint8Array;
}

/**
 * Compresses with Brotli at its fastest, which every runtime has; uncompressed if that is smaller.
 * It looks back at most `windowBits`.
 */
export function compress(bytes: Uint8Array, windowBits = 22): Compressed {
  const packed = zlib.brotliCompressSync(bytes, {
    chunkSize: Math.min(Math.max(1024, bytes.length >> 2), largestPiece),
    params: {
      [zlib.constants.BROTLI_PARAM_QUALITY]: 1,
      [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      // A reader allocates the whole window, which is 4 MiB unless told that less is enough.
      [zlib.constants.BROTLI_PARAM_LGWIN]: Math.min(
        Math.max(zlib.constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes.length + 16))),
        windowBits,
      ),
    },
  });
  return packed.length < bytes.length
    ? { codec: codecs.brotli, bytes: packed }
    : { codec: codecs.none, bytes };
}

/**
 * Decompresses to exactly `rawLength` bytes, or throws: stored data may be damaged, and must not
 * inflate without bounds.
 */
export function decompress(codec: number, bytes: Uint8Array, rawLength: number): Uint8Array {
  const raw = inflated(codec, bytes, rawLength);
  if (raw.length !== rawLength) {
    throw errors.unpacked_size({ count: raw.length, written: rawLength });
  }
  return raw;
}

function inflated(codec: number, bytes: Uint8Array, rawLength: number): Uint8Array {
  if (codec === codecs.none) {
    return bytes;
  }
  if (codec === codecs.zstd && runtime.zstdDecompressSync === undefined) {
    throw errors.no_zstd({ node: process.versions.node });
  }
  try {
    // One buffer of the right size: the runtime would assemble it from pieces of 16 KiB, and
    // allocate another for what may follow a full one.
    const options = {
      maxOutputLength: Math.max(1, rawLength),
      chunkSize: Math.min(Math.max(64, rawLength + 1), largestPiece),
    };
    if (codec === codecs.brotli) {
      return zlib.brotliDecompressSync(bytes, options);
    }
    if (codec === codecs.zstd) {
      return runtime.zstdDecompressSync!(bytes, options);
    }
  } catch (error) {
    throw errors.compressed_damaged({ cause: error });
  }
  throw errors.unknown_codec({ codec });
}
