import * as prom from 'prom-client';

import { errors } from './errors.ts';

type Labels = Readonly<Record<string, string>>;

const maxValueLength = 200;

/** Label value that stands for everything beyond the limit. */
const folded = 'other';

export interface Shape {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/** One metric as the generations of one owner share it. */
export interface Family {
  readonly owner: string;
  readonly shape: Shape;
  readonly metric: prom.Metric;
  /** The labels to write under; folds what exceeds the limit. */
  readonly series: (labels: Labels | undefined) => Labels;
  users: number;
}

/**
 * Owners of metric names. While a plugin is replaced both its generations declare the same names:
 * they share the metric, so a counter continues. If the newer one declares another shape, that is
 * shown instead, and the older comes back should the newer leave first.
 */
export class Families {
  readonly #registry: prom.Registry;
  readonly #seriesLimit: number;
  readonly #onFold: (metric: string) => void;
  readonly #byName = new Map<string, Family[]>();

  constructor(registry: prom.Registry, seriesLimit: number, onFold: (metric: string) => void) {
    this.#registry = registry;
    this.#seriesLimit = seriesLimit;
    this.#onFold = onFold;
  }

  join(owner: string, name: string, shape: Shape): Family {
    const stack = this.#byName.get(name) ?? [];
    const foreign = stack.find((family) => family.owner !== owner);
    if (foreign) {
      throw errors.metric_declared_twice({ owner, other: foreign.owner, name });
    }
    let family = stack.find((known) => sameShape(known.shape, shape));
    if (!family) {
      const series = boundedSeries(name, shape.labels, this.#seriesLimit, () => this.#onFold(name));
      family = { owner, shape, metric: create(name, shape), series, users: 0 };
      this.#show(name, [...stack, family]);
    }
    family.users += 1;
    return family;
  }

  /** Declarations that are alive. */
  get users(): number {
    return [...this.#byName.values()].flat().reduce((sum, family) => sum + family.users, 0);
  }

  leave(name: string, family: Family): void {
    family.users -= 1;
    if (family.users === 0) {
      this.#show(
        name,
        (this.#byName.get(name) ?? []).filter((other) => other !== family),
      );
    }
  }

  /** The last of the stack is the one that a scrape sees. */
  #show(name: string, stack: Family[]): void {
    this.#registry.removeSingleMetric(name);
    const top = stack.at(-1);
    if (!top) {
      this.#byName.delete(name);
      return;
    }
    this.#byName.set(name, stack);
    this.#registry.registerMetric(top.metric);
  }
}

function create(name: string, { kind, help, labels, buckets }: Shape): prom.Metric {
  if (!/^[a-z][a-z0-9_]{0,150}$/.test(name)) {
    throw errors.metric_name({ name });
  }
  const config = { name, help: help || name, labelNames: [...labels], registers: [] };
  const made = { counter: () => new prom.Counter(config), gauge: () => new prom.Gauge(config) };
  return kind === 'histogram'
    ? new prom.Histogram({ ...config, buckets: [...(buckets ?? [])] })
    : made[kind]();
}

/**
 * Returns whether values written to one may continue in the other; the help text does not matter.
 */
const sameShape = (a: Shape, b: Shape): boolean =>
  a.kind === b.kind &&
  a.labels.join() === b.labels.join() &&
  (a.buckets ?? []).join() === (b.buckets ?? []).join();

/**
 * Keeps the number of series of one metric bounded: strangers can choose label values (paths, names), and each new
 * combination would stay in memory for ever. Beyond `limit` everything new counts towards one series.
 */
function boundedSeries(
  metric: string,
  names: readonly string[],
  limit: number,
  onFold: () => void,
): (labels: Labels | undefined) => Labels {
  const known = new Set<string>();
  const rest = Object.fromEntries(names.map((name) => [name, folded]));
  return (labels = {}) => {
    const unknown = Object.keys(labels).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw errors.metric_label({ metric, label: unknown, known: names.join(', ') || 'none' });
    }
    const series = Object.fromEntries(
      names.map((name) => [name, String(labels[name] ?? '').slice(0, maxValueLength)]),
    );
    const key = JSON.stringify(Object.values(series));
    if (known.has(key)) {
      return series;
    }
    if (known.size >= limit) {
      onFold();
      return rest;
    }
    known.add(key);
    return series;
  };
}
