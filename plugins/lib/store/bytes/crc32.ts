import * as zlib from 'node:zlib';

/** Built in from Node 20.15 and 22.2 on, and many times faster than a table. */
export const crc32 = (bytes: Uint8Array, start = 0): number => zlib.crc32(bytes, start);
