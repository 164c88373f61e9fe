import { complaintsOf } from './checks.ts';
import { type Deviation, deviationOf, gates } from './deviation.ts';
import { resampled, timeAt, valuesIn } from './grid.ts';
import { type RankedTemplate, rankedTemplates } from './logs.ts';
import type { CheckResult, Node, Series, SliKind, Snapshot } from './snapshot.ts';
import { type OwnShare, ownShares } from './spans.ts';
import { mean, pearson, present, quantileOf, type Sample } from './statistics.ts';
import type { Windows } from './windows.ts';

/** One series of a node that went wrong, and how much it moves with the symptom. */
export interface Signal {
  readonly deviation: Deviation;
  readonly correlation: number;
  /**
   * Relevance from 0 to 1: it deviates, moves with the symptom, and is of a kind that could do
   * harm.
   */
  readonly relevance: number;
}

/** All that is known about one node, before any other node is looked at. */
export interface NodeSignals {
  readonly node: Node;
  readonly deviations: readonly Deviation[];
  /** Deviating signals, most relevant first. */
  readonly signals: readonly Signal[];
  /** Average deterioration of its answers: share of failures, and seconds. */
  readonly errors: number;
  readonly latency: number;
  /** Time since which nothing comes of it any more, or no work reaches it. */
  readonly silent_since?: number;
  readonly idle_since?: number;
  /** Temporal fit, from 0 to 1, of its falling silent with the symptom. */
  readonly silence: number;
  readonly own?: OwnShare;
  readonly templates: readonly RankedTemplate[];
  readonly complaints: readonly CheckResult[];
  /** True if any of its metrics could be examined. */
  readonly measured: boolean;
  /** True if lines or spans of it were read. */
  readonly seen: boolean;
}

export function signalsOf(
  snapshot: Snapshot,
  nodes: readonly Node[],
  windows: Windows,
  symptom: Series | undefined,
): ReadonlyMap<string, NodeSignals> {
  const seriesOf = grouped(snapshot.series);
  const templatesOf = new Map<string, RankedTemplate[]>();
  rankedTemplates(snapshot.logs, windows.baseline, windows.incident).forEach((entry) => {
    templatesOf.set(entry.log.node, [...(templatesOf.get(entry.log.node) ?? []), entry]);
  });
  const own = ownShares(snapshot.spans, windows.baseline, windows.incident);
  const likeness = new Likeness(symptom, windows);
  const delay = delayOf(symptom, windows);
  const told = new Set([...snapshot.logs, ...snapshot.spans].map(({ node }) => node));
  return new Map(
    nodes.map((node) => {
      const series = seriesOf.get(node.id) ?? [];
      const deviations = series.flatMap(
        (one) => deviationOf(one, windows.baseline, windows.look) ?? [],
      );
      const signals = deviations
        .filter(({ peak }) => peak >= gates.relaxed)
        .map((deviation): Signal =>
          signalOf(deviation, likeness, snapshot.symptom.kind, node, delay),
        )
        .sort((a, b) => b.relevance - a.relevance || b.deviation.peak - a.deviation.peak);
      const spans = own.get(node.id);
      return [
        node.id,
        {
          node,
          deviations,
          signals,
          errors: excess(deviations, 'error_ratio', symptom, windows),
          latency: excess(deviations, 'latency', symptom, windows),
          ...silenceOf(series, windows, likeness),
          ...(spans && { own: spans }),
          templates: templatesOf.get(node.id) ?? [],
          complaints: complaintsOf(snapshot.checks, node.id, windows.baseline.from),
          measured: series.some(({ values }) => values.some((value) => value !== null)),
          seen: told.has(node.id),
        },
      ] as const;
    }),
  );
}

function grouped(series: readonly Series[]): ReadonlyMap<string, Series[]> {
  const groups = new Map<string, Series[]>();
  series.forEach((one) => {
    const group = groups.get(one.node);
    if (group) {
      group.push(one);
    } else {
      groups.set(one.node, [one]);
    }
  });
  // Regardless of their order, the same one comes first.
  groups.forEach((group) =>
    group.sort((a, b) =>
      a.metric < b.metric ? -1 : a.metric > b.metric ? 1 : a.from - b.from || a.step_ms - b.step_ms,
    ),
  );
  return groups;
}

function signalOf(
  deviation: Deviation,
  likeness: Likeness,
  kind: SliKind,
  { kind: sort }: Node,
  delay: number,
): Signal {
  const correlation = likeness.of(deviation);
  const gate = deviation.peak >= gates.strict ? 1 : relaxedGate;
  const { kind: own, weight = 1 } = deviation.series;
  const alike = own === kind || (isFailing(own) && isFailing(kind));
  const fits = alike ? 1 : isAnswer(own) ? otherAnswer : resource;
  const hurts = likeness.isSymptom(deviation)
    ? Math.max(alarming, harm(deviation))
    : harm(deviation) * enough(deviation, delay);
  return {
    deviation,
    correlation,
    relevance: gate * fits * hurts * weight * correlation * (sort === 'remote' ? secondHand : 1),
  };
}

/** Kinds of series that say how a node answers those who ask it. */
export const answerKinds: readonly SliKind[] = ['error_ratio', 'errors', 'latency'];
const failingKinds: readonly SliKind[] = ['error_ratio', 'errors'];

const isAnswer = (kind: SliKind): boolean => answerKinds.includes(kind);
const isFailing = (kind: SliKind): boolean => failingKinds.includes(kind);

const relaxedGate = 0.7;
/** Least harm of what an alert is about: somebody has decided that it is bad. */
const alarming = 0.5;
/**
 * Weight of a different kind of answer: failures do cause delays, and delays failures, but like
 * causes like more often.
 */
const otherAnswer = 0.5;
const resource = 0.92;
/** Weight of what is known only through callers, which reflects them as much as the node itself. */
const secondHand = 0.85;

/** Calls of one request that may each be a little slower. */
const mostCalls = 20;
/** Seconds by which an answer must be slower to make anybody give up. */
const leastWait = 0.02;

/** Returns the seconds by which the symptom is slower; of one that is no duration, the fewest that could fail somebody. */
function delayOf(symptom: Series | undefined, { baseline, look }: Windows): number {
  const slower =
    symptom?.kind === 'latency' && symptom.unit === 'seconds'
      ? deviationOf(symptom, baseline, look)
      : undefined;
  return slower === undefined ? leastWait : (slower.worst - slower.usual.median) / mostCalls;
}

/** Returns how far a slower answer can be felt: a millisecond explains no second, however unusual it is. */
const enough = ({ series: { kind, unit }, worst, usual }: Deviation, delay: number): number =>
  kind === 'latency' && unit === 'seconds' && delay > 0 ? clamp((worst - usual.median) / delay) : 1;

/** Matches metrics of waiting, which hurts long before it takes all of the time. */
export const waiting = /steal|stall|iowait|pressure|throttl/;

const muchWaiting = 0.2;

/**
 * Returns the max harm of a series of this kind. Load and traffic explain, but break nothing by
 * themselves.
 */
function harm({ series: { kind, unit, worse, metric }, worst, usual }: Deviation): number {
  if (isAnswer(kind)) {
    return 1;
  }
  if (kind === 'saturation') {
    const taken = unit === 'percent' ? worst / 100 : worst;
    return worse === 'down' ? 0.8 : clamp((taken - 0.5) / 0.4);
  }
  if (kind === 'queue') {
    return 0.8 * clamp(worst / Math.max(usual.median, 1e-9) / 2 - 0.5);
  }
  if (kind === 'events') {
    return 0.8;
  }
  if (kind === 'rate' || worse === 'either') {
    return 0;
  }
  if (waiting.test(metric) && (unit === 'percent' || unit === 'ratio')) {
    return clamp((unit === 'percent' ? worst / 100 : worst) / 0.3);
  }
  if (kind === 'cpu' || kind === 'memory' || kind === 'disk') {
    const used = unit === 'percent' ? worst / 100 : unit === 'ratio' ? worst : undefined;
    return used === undefined
      ? Math.min(0.7, Math.max(0, worst / Math.max(usual.median, 1e-9) - 1))
      : clamp((used - 0.6) / 0.3);
  }
  if (kind === 'network' && unit === 'seconds') {
    // Time between a call and its answer that neither side spends hurts by how much of it is new.
    return clamp((worst - usual.median) / muchWaiting);
  }
  if (kind === 'network') {
    return unit === 'ratio' ? clamp(worst / 0.02) : unit === 'percent' ? clamp(worst / 2) : 0.5;
  }
  return kind === 'load' ? 0.5 : 0.3;
}

export const clamp = (value: number): number => Math.max(0, Math.min(1, value));

/** Min pairs for a correlation of two series. */
const leastPairs = 3;
const beganWithIt = 0.6;

/** Direction in which a series gets worse; 0 where it may be either. */
const sideOf = ({ worse = 'up' }: Series): number =>
  worse === 'either' ? 0 : worse === 'down' ? -1 : 1;

/**
 * Correlation with the symptom over the incident and as much quiet time before it, so that a step
 * is seen as one. What gets better while the symptom gets worse is not like it.
 */
class Likeness {
  readonly #symptom: Series | undefined;
  readonly #windows: Windows;
  readonly #isYoung: boolean;
  readonly #isFailing: boolean;
  readonly #grids = new Map<number, readonly Sample[]>();

  constructor(symptom: Series | undefined, windows: Windows) {
    this.#symptom = symptom;
    this.#windows = windows;
    this.#isYoung =
      symptom !== undefined && present(valuesIn(symptom, windows.compare)).length < leastPairs;
    this.#isFailing = symptom !== undefined && isFailing(symptom.kind) && sideOf(symptom) > 0;
  }

  isSymptom({ series }: Deviation): boolean {
    return series === this.#symptom;
  }

  /**
   * A symptom that was never measured before moves with nothing yet; then what began when it did is like it, as far as anybody can tell. Of a
   * share of failures it is known that nothing failed before.
   */
  of({ series, onset_at: onset }: Deviation): number {
    return this.#isYoung && !this.#isFailing
      ? onset !== undefined && onset >= this.#windows.compare.from
        ? beganWithIt
        : 0
      : this.with(series);
  }

  with(series: Series, fill?: number): number {
    if (this.#symptom === undefined) {
      return 0;
    }
    const step = Math.max(series.step_ms, this.#symptom.step_ms);
    const of = resampled(series, this.#windows.compare, step);
    const values = fill === undefined ? of : of.map((value) => value ?? fill);
    const likeness = pearson(values, this.#symptomAt(step));
    const side = fill === undefined ? sideOf(series) * sideOf(this.#symptom) : 0;
    return side === 0 ? Math.abs(likeness) : Math.max(0, side * likeness);
  }

  #symptomAt(step: number): readonly Sample[] {
    const grid = this.#grids.get(step) ?? this.#laidOut(step);
    this.#grids.set(step, grid);
    return grid;
  }

  #laidOut(step: number): readonly Sample[] {
    const grid = resampled(this.#symptom!, this.#windows.compare, step);
    return this.#isYoung && this.#isFailing ? grid.map((value) => value ?? 0) : grid;
  }
}

/**
 * Returns the average deterioration over the whole incident; if there are several series, by the
 * one in the symptom's terms.
 */
function excess(
  deviations: readonly Deviation[],
  kind: SliKind,
  symptom: Series | undefined,
  { incident }: Windows,
): number {
  const ofKind = deviations.filter(({ series }) => series.kind === kind);
  const like = ofKind.filter(({ series }) => series.metric === symptom?.metric);
  return Math.max(
    0,
    ...(like.length > 0 ? like : ofKind).map(({ series, usual }) => {
      const during = present(valuesIn(series, incident));
      return during.length === 0 ? 0 : mean(during) - usual.median;
    }),
  );
}

/** Returns the start of a silence, of series or of work, that lasts to the end of what is known. */
function silenceOf(
  series: readonly Series[],
  { baseline, look }: Windows,
  likeness: Likeness,
): Pick<NodeSignals, 'silent_since' | 'idle_since' | 'silence'> {
  const lively = series.filter((one) => {
    if (one.outside === true) {
      return false;
    }
    const all = valuesIn(one, baseline);
    // History may be shorter than the time to compare with.
    const before = all.slice(
      Math.max(
        0,
        all.findIndex((value) => value !== null),
      ),
    );
    return before.length >= 8 && present(before).length >= before.length * 0.9;
  });
  const ends = lively.map((one) => stoppedAt(one, look));
  const silent =
    ends.length > 0 && ends.every((end) => end !== undefined) ? Math.min(...ends) : undefined;
  const rate = lively.find(({ kind }) => kind === 'rate') ?? lively.find(isOfLife);
  const idle = rate && idleSince(rate, baseline, look);
  return {
    ...(silent === undefined ? {} : { silent_since: silent }),
    ...(idle === undefined ? {} : { idle_since: idle }),
    silence:
      rate && (silent !== undefined || idle !== undefined)
        ? likeness.with(rate, 0)
        : silent === undefined
          ? 0
          : likeness.with(lively[0]!, 0),
  };
}

/** Returns whether a series counts what comes of a node as long as it lives, such as the lines that it writes. */
const isOfLife = ({ kind, unit, worse }: Series): boolean =>
  kind === 'other' && unit === 'count' && worse === 'down';

const silentSteps = 2;

/** Returns when a series stopped within the examined time: what stopped earlier is no news. */
function stoppedAt(series: Series, look: Windows['look']): number | undefined {
  return endsWith(series, look, (value) => value === null);
}

function idleSince(
  series: Series,
  baseline: Windows['baseline'],
  look: Windows['look'],
): number | undefined {
  const usual = present(valuesIn(series, baseline));
  const little = 0.1 * quantileOf(usual, 0.1);
  return little > 0
    ? endsWith(series, look, (value) => value === null || value <= little)
    : undefined;
}

/**
 * Returns the start of the last stretch of a state that lasts to the end; undefined if it is short,
 * or older than what is examined.
 */
function endsWith(
  series: Series,
  look: Windows['look'],
  so: (value: number | null) => boolean,
): number | undefined {
  const first = Math.max(0, Math.ceil((look.from - series.from) / series.step_ms));
  const last = Math.min(
    series.values.length - 1,
    Math.floor((look.to - series.from) / series.step_ms),
  );
  let at = last;
  while (at >= first && so(series.values[at]!)) {
    at -= 1;
  }
  return last - at >= silentSteps && at >= first ? timeAt(series, at + 1) : undefined;
}
