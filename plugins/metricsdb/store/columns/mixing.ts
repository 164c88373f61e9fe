/** A hash with 32 bits more in it, mixed as the murmur family does. */
export function mixed(hash: number, word: number): number {
  const more = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x1b873593);
  return (more << 13) | (more >>> 19);
}

/** The end of a hash: every bit of it depends on every bit that went in. */
export function settled(hash: number): number {
  let left = hash ^ (hash >>> 16);
  left = Math.imul(left, 0x85ebca6b);
  left ^= left >>> 13;
  left = Math.imul(left, 0xc2b2ae35);
  return (left ^ (left >>> 16)) >>> 0;
}
