import { indexFrom, timeAt, valuesIn, within } from './grid.ts';
import type { Period, Series, Unit } from './snapshot.ts';
import { madToDeviation, median, present, type Usual, usualOf } from './statistics.ts';

/** Behaviour of a series in the incident, in units of its usual variation. */
export interface Deviation {
  readonly series: Series;
  readonly usual: Usual;
  /** Size of one unit of `peak`. */
  readonly scale: number;
  /**
   * Deviation at its worst, and in the middle of the incident: the one ranks, the other says
   * whether anything is wrong at all.
   */
  readonly peak: number;
  readonly middle: number;
  readonly worst: number;
  /** First sample of the shift that leads to the worst; absent where nothing shifts. */
  readonly onset_at?: number;
  /** Samples in the incident. */
  readonly count: number;
}

/**
 * Thresholds of deviation from which a signal counts; the relaxed one is used when nothing passes
 * the strict one.
 */
export const gates = { strict: 8, relaxed: 5 } as const;

const leastBaseline = 8;

/** Lost packets are few even when they hurt; single ones are no fault. */
const leastOfNetwork: Readonly<Partial<Record<Unit, number>>> = {
  ratio: 0.001,
  percent: 0.1,
  per_second: 0.05,
};

/**
 * Returns the smallest relevant difference. A share has an absolute one, since a relative one hides
 * real faults; everything else varies in proportion to its size.
 */
export function floorOf(
  { kind, unit }: { readonly kind: Series['kind']; readonly unit: Unit },
  middle: number,
): number {
  const relative = 0.05 * Math.abs(middle);
  if (kind === 'error_ratio') {
    return unit === 'percent' ? 0.1 : 0.001;
  }
  if (kind === 'network') {
    return Math.max(relative, leastOfNetwork[unit] ?? 0);
  }
  if (kind === 'errors' && unit === 'count') {
    return fewOf(middle);
  }
  if (unit === 'percent') {
    return Math.max(relative, 1);
  }
  return unit === 'ratio' ? Math.max(relative, 0.01) : relative;
}

/** What is counted varies by the root of its size even where it never has. */
const fewOf = (count: number): number => 0.5 + 0.5 * Math.sqrt(Math.abs(count));

export function scaleOf(usual: Usual, series: Pick<Series, 'kind' | 'unit'>): number {
  const spread = usual.mad > 0 ? madToDeviation * usual.mad : usual.deviation;
  return Math.max(spread, floorOf(series, usual.median), 1e-9);
}

/** Undefined where there is too little to compare. */
export function deviationOf(
  series: Series,
  baseline: Period,
  incident: Period,
): Deviation | undefined {
  const usual = usualIn(series, baseline);
  const during = valuesIn(series, incident);
  const known = present(during);
  if (usual === undefined || known.length === 0) {
    return undefined;
  }
  const scale = scaleOf(usual, series);
  const offs = known.map((value) => signed(series, (value - usual.median) / scale));
  const peak = Math.max(...offs, 0);
  const worst = known[offs.indexOf(Math.max(...offs))]!;
  const onset =
    peak >= gates.relaxed ? onsetOf(series, usual, scale, baseline, incident) : undefined;
  return {
    series,
    usual,
    scale,
    peak,
    middle: Math.max(0, median(offs)),
    worst,
    count: known.length,
    ...(onset === undefined ? {} : { onset_at: onset }),
  };
}

/** Returns a difference with its sign; only the bad side counts, if there is one. */
function signed({ worse = defaultSide }: Series, off: number): number {
  return worse === 'either' ? Math.abs(off) : worse === 'down' ? -off : off;
}

const defaultSide = 'up';

const lastHour = 3_600_000;
const leastOfHour = 30;

/** Returns what a series is compared with; `count` is 0 if that is no measurement. */
export const usualIn = (series: Series, baseline: Period): Usual | undefined =>
  quietest(series, baseline) ?? neverBefore(series, baseline);

const nothingFails: Usual = { median: 0, mad: 0, deviation: 0, iqr: 0, count: 0 };

/**
 * Returns the usual value of a share of failures that was never measured before: when all is well,
 * next to nothing fails.
 */
function neverBefore(
  { kind, unit, worse = defaultSide, ...series }: Series,
  { to }: Period,
): Usual | undefined {
  const isShare =
    kind === 'error_ratio' && (unit === 'ratio' || unit === 'percent') && worse === 'up';
  const before = within(series.values, series.from, series.step_ms, { from: series.from, to });
  return isShare && present(before).length < leastBaseline
    ? { ...nothingFails, deviation: unit === 'percent' ? 1 : 0.01 }
    : undefined;
}

/**
 * Returns the calmest of the baseline, its last hour, and the same hours a day or a week ago. A day
 * that rises and falls hides small shifts.
 */
export function quietest(series: Series, baseline: Period): Usual | undefined {
  const own = usualOf(valuesIn(series, baseline));
  const recent = usualOf(
    valuesIn(series, { from: Math.max(baseline.from, baseline.to - lastHour), to: baseline.to }),
  );
  const shifted = { from: baseline.from, to: series.from + series.step_ms * series.values.length };
  const earlier = (series.earlier ?? []).map(({ values }) =>
    usualOf(within(values, series.from, series.step_ms, shifted)),
  );
  const others = [
    ...(recent.count >= leastOfHour ? [recent] : []),
    ...earlier.filter(({ count }) => count >= leastBaseline),
  ];
  const usable = own.count >= leastBaseline ? [own, ...others] : others;
  const [first, ...rest] = usable;
  return (
    first &&
    rest.reduce((best, other) => (other.mad < best.mad && other.mad > 0 ? other : best), first)
  );
}

/** Returns the onset, going back from the worst sample to where the series left its usual range. */
function onsetOf(
  series: Series,
  usual: Usual,
  scale: number,
  baseline: Period,
  incident: Period,
): number | undefined {
  const earliest = indexFrom(series, baseline.to);
  const last = Math.min(
    series.values.length - 1,
    Math.floor((incident.to - series.from) / series.step_ms),
  );
  let first: number | undefined;
  for (let at = earliest; at <= last; at += 1) {
    const value = series.values[at];
    if (
      value !== null &&
      value !== undefined &&
      signed(series, (value - usual.median) / scale) >= 3
    ) {
      first ??= at;
    } else if (value !== null && value !== undefined && first !== undefined && at - first < 2) {
      first = undefined;
    }
  }
  return first === undefined ? undefined : timeAt(series, first);
}
