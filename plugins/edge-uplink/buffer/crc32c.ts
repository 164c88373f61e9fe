const polynomial = 0x82f63b78;

const makeTable = (): Uint32Array =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) {
      value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    }
    return value;
  });

const table = makeTable();

/** Castagnoli's, as storage formats use it. */
export function crc32c(bytes: Uint8Array): number {
  let value = ~0;
  for (let at = 0; at < bytes.length; at++) {
    value = table[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8);
  }
  return ~value >>> 0;
}
