/** Decodes a range of UTF-8 bytes; invalid ones become replacement characters. */
export function textOf(bytes: Buffer, start: number, end: number): string {
  if (end - start < 12) {
    let text = '';
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      if (byte > 0x7f) {
        return bytes.toString('utf8', start, end);
      }
      text += String.fromCharCode(byte);
    }
    return text;
  }
  return bytes.toString('utf8', start, end);
}

/** The same memory as a Buffer. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
