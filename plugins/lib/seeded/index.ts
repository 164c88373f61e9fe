import { createHash } from 'node:crypto';

/** 0 ≤ x < 1. */
export type Random = () => number;

/** The same parts give the same numbers, on every machine: Mulberry32 from a hash of them. */
export function seeded(...parts: readonly (string | number)[]): Random {
  let state = createHash('sha256').update(parts.join('\n')).digest().readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)]!;
