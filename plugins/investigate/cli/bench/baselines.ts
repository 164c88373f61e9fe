import {
  pearson,
  present,
  type Series,
  type Snapshot,
  symptomSeries,
  usualOf,
  valuesIn,
  type Windows,
  windowsOf,
} from 'svc/rca';

/** Orders the nodes of a snapshot, likeliest cause first. */
export type Ranker = (snapshot: Snapshot) => readonly string[];

/** Simple methods of the literature over the same data and the same windows, so that a table says what the rest is worth. */
export const baselines: Readonly<Record<string, Ranker>> = {
  'flat z-score': (snapshot) =>
    byWorst(snapshot, ({ median, mad, deviation }) => ({
      centre: median,
      scale: mad > 0 ? 1.4826 * mad : deviation,
    })),
  'N-sigma': (snapshot) =>
    byWorst(snapshot, (_, values) => ({ centre: average(values), scale: spread(values) })),
  'BARO-like': (snapshot) =>
    byWorst(snapshot, ({ median, iqr }) => ({ centre: median, scale: iqr })),
  'random walk': randomWalk,
};

type Measure = (
  usual: ReturnType<typeof usualOf>,
  values: readonly number[],
) => { readonly centre: number; readonly scale: number };

const tiny = 1e-9;

function byWorst(snapshot: Snapshot, measure: Measure): readonly string[] {
  const windows = windowsOf(snapshot, symptomSeries(snapshot));
  return sorted(worstByNode(snapshot.series, windows, measure));
}

function worstByNode(
  series: readonly Series[],
  windows: Windows,
  measure: Measure,
): ReadonlyMap<string, number> {
  const worst = new Map<string, number>();
  for (const one of series) {
    const before = present(valuesIn(one, windows.baseline));
    const during = present(valuesIn(one, windows.look));
    if (before.length >= 8 && during.length > 0) {
      const { centre, scale } = measure(usualOf(before), before);
      const off =
        Math.max(...during.map((value) => Math.abs(value - centre))) / Math.max(scale, tiny);
      worst.set(one.node, Math.max(worst.get(one.node) ?? 0, off));
    }
  }
  return worst;
}

/**
 * Ranks by PageRank that restarts at the symptom: it walks to dependencies, preferring those that
 * move with the symptom.
 */
function randomWalk(snapshot: Snapshot): readonly string[] {
  const symptom = symptomSeries(snapshot);
  const windows = windowsOf(snapshot, symptom);
  const ids = snapshot.nodes.map(({ id }) => id);
  const likeness = new Map(ids.map((id) => [id, 0.01]));
  const shape = symptom === undefined ? [] : valuesIn(symptom, windows.compare);
  snapshot.series.forEach((one) =>
    likeness.set(
      one.node,
      Math.max(
        likeness.get(one.node) ?? 0.01,
        Math.abs(pearson(valuesIn(one, windows.compare), shape)),
      ),
    ),
  );
  const next = new Map(ids.map((id) => [id, [[id, likeness.get(id)!] as const]]));
  snapshot.edges.forEach(({ from, to }) => {
    next.get(from)?.push([to, likeness.get(to) ?? 0.01]);
    next.get(to)?.push([from, 0.1 * (likeness.get(from) ?? 0.01)]);
  });
  const start = snapshot.symptom.node ?? ids[0]!;
  let weight = new Map([[start, 1]]);
  for (let round = 0; round < 60; round += 1) {
    const after = new Map([[start, 0.15]]);
    for (const [id, own] of weight) {
      const ways = next.get(id) ?? [];
      const total = ways.reduce((sum, [, value]) => sum + value, 0);
      ways.forEach(([to, value]) =>
        after.set(to, (after.get(to) ?? 0) + (0.85 * own * value) / total),
      );
    }
    weight = after;
  }
  return sorted(weight);
}

const sorted = (scores: ReadonlyMap<string, number>): readonly string[] =>
  [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
function spread(values: readonly number[]): number {
  const centre = average(values);
  return Math.sqrt(average(values.map((value) => (value - centre) ** 2)));
}
