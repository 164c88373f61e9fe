import type { AttemptResult } from './attempt.ts';
import { wordsGroup } from '../store/delivery-conditions.ts';
import type { Delivery } from '../store/tables.ts';

/** After so many failed tries of a delivery people are told of that; interrupted ones do not count. */
export const soonTries = 5;
/** Whatever has to wait for longer is late. */
export const maxPatienceMs = 60_000;
/** So often the end of an incident is tried to be sent: about a day, by no clock that may be set. */
const resolvedTries = 290;

/** A firing is tried as long as it burns: what waits for the channel goes when a resolve overtakes it. */
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

/** The wait after a try, of which `random` in [0, 1) moves a fifth up or down; what the platform asks for is obeyed to the letter. */
export function waitAfter(tries: number, askedMs: number | undefined, random: number): number {
  if (askedMs !== undefined) {
    return askedMs;
  }
  const usual = waitsMs[Math.min(Math.max(tries, 1), waitsMs.length) - 1]!;
  return Math.round(usual * (1 - jitter + 2 * jitter * random));
}
