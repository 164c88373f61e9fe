/** The number that four bytes stand for; -1 when they are not digits. */
export function fourDigits(word: number): number {
  const digits = word ^ 0x30303030;
  if (((digits | (digits + 0x76767676)) & 0x80808080) !== 0) {
    return -1;
  }
  const pairs = (digits * 10 + (digits >> 8)) & 0x00ff00ff;
  return (pairs & 0xff) * 100 + (pairs >> 16);
}

export function number(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) {
    value = value * 10 + bytes[at]! - 0x30;
  }
  return value;
}

export function lengthOfDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) {
    at++;
  }
  return at - from;
}
