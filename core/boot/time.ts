import { randomBytes } from 'node:crypto';

import type { Clock, Ids } from '../sdk/index.ts';

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Randomness that is fetched at once: every request has an id, and asking the system for each costs more than all the rest of it. */
const fetchedBytes = 4_096;

/** Ids from the system's randomness; UUIDs are version 7, so that they sort by time. */
export function systemIds(clock: Clock): Ids {
  let fetched: Buffer = Buffer.alloc(0);
  return {
    uuid() {
      if (fetched.length < 16) {
        fetched = randomBytes(fetchedBytes);
      }
      const bytes = fetched.subarray(0, 16);
      fetched = fetched.subarray(16);
      bytes.writeUIntBE(clock.now(), 0, 6);
      bytes[6] = (bytes[6]! & 0x0f) | 0x70;
      bytes[8] = (bytes[8]! & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    token: (bytes = 32) => randomBytes(bytes).toString('base64url'),
  };
}
