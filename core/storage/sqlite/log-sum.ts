/** The checksum of SQLite's log, as two words of 32 bits. */
export type Sum = readonly [number, number];

/** Continues a checksum over bytes whose number is a multiple of 8. */
export function sumOf(bytes: Uint8Array, [first, second]: Sum, isLittle: boolean): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.byteLength; at += 8) {
    a = (a + view.getUint32(at, isLittle) + b) | 0;
    b = (b + view.getUint32(at + 4, isLittle) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}

export const isSame = (one: Sum, other: Sum): boolean => one[0] === other[0] && one[1] === other[1];
