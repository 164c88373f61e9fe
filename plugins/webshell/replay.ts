import { limits } from './limits.ts';

/** The last bytes that a shell has printed, for a browser that comes back. Places are counted from its first byte on. */
export interface Replay {
  push(bytes: Uint8Array): void;
  /** How much there was so far. */
  readonly end: number;
  /** The place nearest to this one from which all is still here. */
  nearest(place: number): number;
  /** All from there on. */
  since(place: number): Buffer;
}

/** Copies what it keeps: a piece of output is a small part of the memory that it came in. */
export function createReplay(size: number = limits.replayBytes): Replay {
  const ring = Buffer.alloc(size);
  let end = 0;
  const nearest = (place: number): number => Math.max(place, end - size);
  return {
    get end() {
      return end;
    },
    push(bytes) {
      const kept = bytes.subarray(Math.max(0, bytes.length - size));
      const at = (end + bytes.length - kept.length) % size;
      ring.set(kept.subarray(0, size - at), at);
      ring.set(kept.subarray(size - at), 0);
      end += bytes.length;
    },
    nearest,
    since(place) {
      const from = nearest(place);
      const at = from % size;
      const length = end - from;
      return Buffer.concat([ring.subarray(at, Math.min(size, at + length)), ring.subarray(0, Math.max(0, at + length - size))]);
    },
  };
}
