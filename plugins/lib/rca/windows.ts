import { indexFrom, timeAt } from './grid.ts';
import type { Period, Series, Snapshot } from './snapshot.ts';
import { present, usualOf } from './statistics.ts';
import { scaleOf } from './deviation.ts';

const minute = 60_000;
const hour = 60 * minute;
const longestWalk = 2 * hour;
const baselineLength = 6 * hour;
const guard = 15 * minute;

/** What has to be fetched for an alert, before anything is known about its onset. */
export function fetchWindow(firedAt: number, now: number): Period {
  return { from: firedAt - longestWalk - guard - baselineLength, to: Math.max(firedAt, Math.min(now, firedAt + hour)) };
}

export interface Windows {
  readonly onset: number;
  readonly baseline: Period;
  readonly incident: Period;
}

/** Onset by walking back from the alert, quiet time before it, and the incident from there to the end of what is known. */
export function windowsOf(snapshot: Snapshot): Windows {
  const symptom = symptomSeries(snapshot);
  const { fired_at: firedAt } = snapshot.symptom;
  const onset = symptom === undefined ? firedAt : walkBack(symptom, firedAt, snapshot);
  const baseline = snapshot.baseline ?? { from: Math.max(snapshot.window.from, onset - baselineLength), to: onset - guard };
  return { onset, baseline, incident: { from: onset, to: Math.min(snapshot.window.to, snapshot.taken_at) } };
}

export function symptomSeries({ symptom, series }: Snapshot): Series | undefined {
  return series.find(({ id }) => id === symptom.series) ?? series.find(({ node, kind }) => node === symptom.node && kind === symptom.kind);
}

function walkBack(series: Series, firedAt: number, snapshot: Snapshot): number {
  const start = Math.min(Math.floor((firedAt - series.from) / series.step_ms), series.values.length - 1);
  const reference = snapshot.baseline ?? { from: snapshot.window.from, to: firedAt - longestWalk };
  const usual = usualOf(series.values.slice(indexFrom(series, reference.from), Math.max(0, Math.floor((reference.to - series.from) / series.step_ms))));
  if (usual.count < 4 || present(series.values).length === 0) {
    return firedAt;
  }
  const scale = scaleOf(usual, series);
  let onset = start;
  let quiet = 0;
  for (let at = start; at >= 0 && timeAt(series, at) >= firedAt - longestWalk && quiet < 3; at -= 1) {
    const value = series.values[at];
    const deviates = value !== null && value !== undefined && Math.abs(value - usual.median) / scale >= 3;
    quiet = deviates ? 0 : quiet + 1;
    onset = deviates ? at : onset;
  }
  return timeAt(series, Math.max(0, onset));
}
