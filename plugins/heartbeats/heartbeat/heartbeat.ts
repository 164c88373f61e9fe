import { Slots } from 'svc/cron';

/** waiting: no report yet; late: expected, but within the grace period. */
export type HeartbeatState = 'waiting' | 'up' | 'running' | 'late' | 'down';

/** When a job is expected to report. */
export interface Pace {
  /** Null: the cron expression says when. */
  readonly periodMs: number | null;
  readonly cron: string | null;
  readonly timeZone: string;
  /** Delay that a report may have, and time that a run may take. */
  readonly graceMs: number;
}

/** Summary of a job's reports; milliseconds since the epoch. */
export interface Reports {
  /** Moment from which the next report is expected; null: nothing was ever reported. */
  readonly countedFrom: number | null;
  /** Start of a run that has not ended yet. */
  readonly startedAt: number | null;
  /** Why the last run failed; null: it did not. */
  readonly failure: string | null;
}

export interface Standing {
  readonly state: HeartbeatState;
  readonly cause: string | null;
  /** When the next report is expected; null: none is. */
  readonly expectedAt: number | null;
}

/** Returns when a job is expected to report next, counted from a moment. */
export function expectedAfter({ periodMs, cron, timeZone }: Pace, from: number): number {
  if (periodMs !== null) {
    return from + periodMs;
  }
  // Slots end for no expression that was accepted.
  return new Slots(cron!, timeZone).next(from) ?? Infinity;
}

/** Decides how a job stands at a moment. */
export function standingAt(pace: Pace, reports: Reports, now: number): Standing {
  const { countedFrom, startedAt, failure } = reports;
  if (countedFrom === null && startedAt === null) {
    return { state: 'waiting', cause: null, expectedAt: null };
  }
  const expectedAt = expectedAfter(pace, countedFrom ?? startedAt!);
  if (startedAt !== null) {
    const until = startedAt + pace.graceMs;
    return now < until
      ? { state: 'running', cause: null, expectedAt }
      : {
          state: 'down',
          cause: `started, but did not report its end within ${seconds(pace.graceMs)}`,
          expectedAt,
        };
  }
  if (failure !== null) {
    return { state: 'down', cause: failure, expectedAt };
  }
  if (now < expectedAt) {
    return { state: 'up', cause: null, expectedAt };
  }
  return now < expectedAt + pace.graceMs
    ? { state: 'late', cause: null, expectedAt }
    : {
        state: 'down',
        cause: `no report since it was expected at ${new Date(expectedAt).toISOString()}`,
        expectedAt,
      };
}

/**
 * Returns from when on the next report counts after svc was away: a report that was due meanwhile
 * may have come and found nobody.
 */
export function countedAfterAway(
  pace: Pace,
  countedFrom: number,
  away: { readonly from: number; readonly until: number },
): number {
  const expectedAt = expectedAfter(pace, countedFrom);
  const wasOpen = expectedAt + pace.graceMs > away.from;
  return wasOpen && expectedAt <= away.until ? away.until : countedFrom;
}

/** Returns the pace of a stored heartbeat. */
export const paceOf = (row: {
  readonly period_s: number | null;
  readonly cron: string | null;
  readonly time_zone: string;
  readonly grace_s: number;
}): Pace => ({
  periodMs: row.period_s === null ? null : row.period_s * 1_000,
  cron: row.cron,
  timeZone: row.time_zone,
  graceMs: row.grace_s * 1_000,
});

const seconds = (ms: number): string =>
  ms >= 3_600_000
    ? `${Math.round(ms / 360_000) / 10} h`
    : ms >= 60_000
      ? `${Math.round(ms / 6_000) / 10} min`
      : `${ms / 1_000} s`;
