import { quietest, scaleOf, usualIn } from './deviation.ts';
import { timeAt } from './grid.ts';
import type { Period, Series, Snapshot } from './snapshot.ts';

const minute = 60_000;
const hour = 60 * minute;
const longestWalk = 2 * hour;
const baselineLength = 6 * hour;
const guard = 15 * minute;
const leastCompared = 5;

/**
 * Returns the window to fetch for an alert, before anything is known about its onset. It ends at a
 * whole minute after the alert: whenever it is fetched, it has the same times, and includes what
 * fired the alert.
 */
export function fetchWindow(firedAt: number, now: number): Period {
  const later = Math.max(0, Math.min(now - firedAt, hour));
  return {
    from: firedAt - longestWalk - guard - baselineLength,
    to: firedAt + later - (later % minute),
  };
}

export interface Windows {
  /** Time at which the symptom left its usual range. */
  readonly onset: number;
  /** Quiet time to compare with. */
  readonly baseline: Period;
  readonly incident: Period;
  /** The incident and the guard before it: causes come before their effects. */
  readonly look: Period;
  /** The incident and as much quiet before it. */
  readonly compare: Period;
}

/**
 * Returns the windows: onset by walking back from the alert, quiet time before it, and the incident
 * from there to the end of what is known.
 */
export function windowsOf(snapshot: Snapshot, symptom: Series | undefined): Windows {
  const to = Math.min(snapshot.window.to, snapshot.taken_at);
  const onset = Math.min(
    to,
    symptom === undefined ? snapshot.symptom.fired_at : onsetOf(symptom, snapshot),
  );
  const baseline = snapshot.baseline ?? {
    from: Math.max(snapshot.window.from, onset - baselineLength),
    to: onset - Math.min(guard, historyBefore(onset, snapshot) / 3),
  };
  const step = symptom?.step_ms ?? minute;
  const length = Math.max(to - onset, leastCompared * step);
  return {
    onset,
    baseline,
    incident: { from: onset, to },
    look: { from: baseline.to + 1, to },
    compare: { from: Math.max(baseline.to + 1, onset - Math.min(length, 2 * guard)), to },
  };
}

/** Returns the time before the onset of which anything is known: of little history the guard takes no more than a third. */
function historyBefore(onset: number, { series, window }: Snapshot): number {
  const first = series.reduce((least, { from, step_ms: step, values }) => {
    const at = values.findIndex((value) => value !== null);
    return at === -1 ? least : Math.min(least, from + at * step);
  }, onset);
  return Math.max(0, onset - Math.max(first, window.from));
}

export function symptomSeries({ symptom, series }: Snapshot): Series | undefined {
  return (
    series.find(({ id }) => id === symptom.series) ??
    series.find(
      ({ node, kind, metric }) =>
        node === symptom.node && kind === symptom.kind && metric === symptom.metric,
    )
  );
}

/**
 * Returns the onset: walks back from the alert as long as the symptom deviates, at most two hours,
 * then lets a cumulated sum decide whether the shift began earlier: a slow one leaves its usual
 * range long before it passes a threshold.
 */
function onsetOf(series: Series, snapshot: Snapshot): number {
  const { fired_at: firedAt } = snapshot.symptom;
  const reference = snapshot.baseline ?? { from: snapshot.window.from, to: firedAt - longestWalk };
  const usual =
    quietest(series, reference) ??
    usualIn(series, { from: snapshot.window.from, to: firedAt - guard });
  if (usual === undefined) {
    return firedAt;
  }
  const scale = scaleOf(usual, series);
  const off = (at: number): number | undefined => {
    const value = series.values[at];
    return value === null || value === undefined
      ? undefined
      : Math.abs(value - usual.median) / scale;
  };
  const walked = walkBack(series, firedAt, off);
  return timeAt(series, cusum(series, walked, firedAt, off));
}

type Off = (at: number) => number | undefined;

const outOfLine = 3;
const quietSteps = 3;

function walkBack(series: Series, firedAt: number, off: Off): number {
  const start = Math.max(
    0,
    Math.min(Math.floor((firedAt - series.from) / series.step_ms), series.values.length - 1),
  );
  let onset = start;
  let quiet = 0;
  for (
    let at = start;
    at >= 0 && timeAt(series, at) >= firedAt - longestWalk && quiet < quietSteps;
    at -= 1
  ) {
    const deviates = (off(at) ?? outOfLine) >= outOfLine;
    quiet = deviates ? 0 : quiet + 1;
    onset = deviates && off(at) !== undefined ? at : onset;
  }
  return onset;
}

/** The start of the last run that a one-sided cumulated sum, with a slack of one and a limit of five, ends in the incident with. */
function cusum(series: Series, walked: number, firedAt: number, off: Off): number {
  const first = Math.max(0, Math.ceil((firedAt - longestWalk - series.from) / series.step_ms));
  let sum = 0;
  let began = walked;
  let calm = 0;
  for (let at = first; at <= walked; at += 1) {
    calm = (off(at) ?? 1) < 1 ? calm + 1 : 0;
    // A deviation that returned completely is no part of a later shift.
    const next = calm >= quietSteps ? 0 : Math.max(0, sum + (off(at) ?? 0) - 1.5);
    began = sum === 0 && next > 0 ? at : began;
    sum = next;
  }
  return sum >= 5 ? Math.min(began, walked) : walked;
}
