/** Location of the key and the text of a pair. */
export interface TextPair {
  readonly keyAt: number;
  readonly keyEnd: number;
  readonly textLength: number;
}

/**
 * A KeyValue whose value is a text, in the one form that senders write, with lengths of one byte each: length, 0x0a, length of
 * the key, key, 0x12, length of the value, 0x0a, length of the text, text. Undefined for any other.
 */
export function textPairIn(bytes: Uint8Array, start: number, end: number): TextPair | undefined {
  const keyAt = start + 3;
  const keyEnd = keyAt + bytes[start + 2]!;
  const textLength = end - keyEnd - 4;
  const usual =
    end - start <= 128 &&
    textLength >= 0 &&
    bytes[start + 1] === 0x0a &&
    keyEnd > keyAt &&
    bytes[keyEnd] === 0x12 &&
    bytes[keyEnd + 1] === textLength + 2 &&
    bytes[keyEnd + 2] === 0x0a &&
    bytes[keyEnd + 3] === textLength;
  return usual ? { keyAt, keyEnd, textLength } : undefined;
}
