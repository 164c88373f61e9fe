import { deflateSync } from 'node:zlib';

/** Encodes a picture with one byte per pixel, an index into the palette. */
export function png(rows: readonly Uint8Array[], palette: readonly number[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(rows[0]!.length, 0);
  head.writeUInt32BE(rows.length, 4);
  // Eight bits, by palette; compressed, filtered and in order as always.
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(
    palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]),
  );
  const pixels = deflateSync(Buffer.concat(rows.flatMap((row) => [Buffer.of(0), row])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, sum]);
}

/** Computes the checksum of ISO 3309. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ ((crc & 1) * 0xedb88320);
    }
  }
  return (crc ^ 0xffffffff) >>> 0;
}
