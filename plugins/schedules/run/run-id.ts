import { createHash } from 'node:crypto';

/**
 * Returns the id of what one slot of one schedule starts: the same however often it is asked for,
 * and sorted by time like other ids.
 */
export function slotId(
  kind: 'run' | 'session',
  schedule: number,
  slot: string,
  at: number,
): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(`${kind} ${schedule} ${slot}`).digest('hex');
  const parts = [
    time.slice(0, 8),
    time.slice(8, 12),
    `7${hash.slice(0, 3)}`,
    `8${hash.slice(3, 6)}`,
    hash.slice(6, 18),
  ];
  return parts.join('-');
}
