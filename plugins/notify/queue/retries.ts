import type { AttemptResult } from './attempt.ts';
import { wordsGroup } from '../store/delivery-conditions.ts';
import type { Delivery } from '../store/tables.ts';

/** Failed attempts of a delivery after which people are informed; interrupted ones do not count. */
export const soonTries = 5;
/** Whatever has to wait for longer is late. */
export const maxPatienceMs = 60_000;
/**
 * Max attempts to send the end of an incident: about a day, independent of clocks that may be set.
 */
const resolvedTries = 290;

/**
 * Returns whether a delivery is retried. A firing is, as long as it lasts: what waits for the
 * channel is dropped when a resolve overtakes it.
 */
export function isTriedAgain(row: Delivery, result: AttemptResult): boolean {
  const isRefused = result.result === 'failed';
  if (
    (row.kind === 'test' && (row.group_key !== wordsGroup || row.attempts >= soonTries)) ||
    (result.result !== 'retry' && !isRefused) ||
    (isRefused && result.unclear)
  ) {
    return false;
  }
  switch (row.kind) {
    case 'reminder':
      return !isRefused && row.attempts < soonTries;
    case 'resolved':
      return row.attempts < resolvedTries;
    default:
      return true;
  }
}

const waitsMs = [5_000, 15_000, 45_000, 135_000, 300_000];
const jitter = 0.2;

/**
 * Returns the wait after an attempt, which `random` in [0, 1) varies by a fifth up or down; a delay
 * requested by the platform is obeyed exactly.
 */
export function waitAfter(tries: number, askedMs: number | undefined, random: number): number {
  if (askedMs !== undefined) {
    return askedMs;
  }
  const usual = waitsMs[Math.min(Math.max(tries, 1), waitsMs.length) - 1]!;
  return Math.round(usual * (1 - jitter + 2 * jitter * random));
}
