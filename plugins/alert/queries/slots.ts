/** Slots are whole seconds, so that rules that share a query share its time. */
const gridMs = 1_000;

/** Returns the offset of a rule's slot within its interval: spread by hash, and stable. */
export function phaseOf(text: string, intervalMs: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  // The low bits of this hash are even enough for a remainder only once they are mixed.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  hash = (hash ^ (hash >>> 13)) >>> 0;
  return (hash % Math.max(1, Math.floor(intervalMs / gridMs))) * gridMs;
}

/** The latest slot that is not after `now`. */
export const slotAt = (now: number, phase: number, intervalMs: number): number =>
  Math.floor((now - phase) / intervalMs) * intervalMs + phase;
