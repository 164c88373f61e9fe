import type { Attribute } from '../../traceql/spans/span.ts';
import type { Head } from '../head/head.ts';

/** A sample as the metrics area takes it. */
export interface MetricRow {
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly time: number;
  readonly value: number;
}

const firstBucket = 0.002;
const bucketCount = 14;
/** Bounds in seconds, each twice the one before. */
const bounds = Array.from({ length: bucketCount }, (_, index) => firstBucket * 2 ** index);
/** Series per label set: calls, count, sum, the buckets and the unbounded one. */
const seriesPerSet = bucketCount + 4;
/** Interval of re-sending unchanged series, which queries would otherwise consider ended. */
const repeatMs = 60_000;
const forgetMs = 3_600_000;
/**
 * Percentage of its own sets and the free ones that one service may have: where the names of its
 * spans hold ids, those of other services are counted all the same.
 */
const serviceShare = 80;
/** Number of sets that a service may have in any case, while some are free. */
const smallService = 20;
const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (kind) => `SPAN_KIND_${kind}`,
);
const statuses = ['UNSET', 'OK', 'ERROR'].map((status) => `STATUS_CODE_${status}`);

interface LabelSet {
  readonly key: string;
  readonly calls: Readonly<Record<string, string>>;
  readonly count: Readonly<Record<string, string>>;
  readonly sum: Readonly<Record<string, string>>;
  readonly buckets: readonly Readonly<Record<string, string>>[];
  readonly counts: Float64Array;
  total: number;
  seconds: number;
  changed: boolean;
  changedAt: number;
  emittedAt: number;
}

/** Calls, errors and durations of all spans, counted as they come; counters begin at nothing when the process does. */
export class SpanMetrics {
  readonly #maxSeries: number;
  readonly #sets = new Map<string, LabelSet>();
  readonly #ofService = new Map<string, number>();
  /** Sets by the numbers that one head has for their parts. */
  readonly #byHead = new WeakMap<Head, Map<number, LabelSet | null>>();
  #dropped = 0;

  constructor(maxSeries: number) {
    this.#maxSeries = maxSeries;
  }

  get series(): number {
    return this.#sets.size * seriesPerSet;
  }

  /** Spans that no set of labels was left for. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Counts rows of a head, once each. */
  count(head: Head, first: number, end: number, now: number): void {
    const known = this.#knownOf(head);
    for (let row = first; row < end; row++) {
      const number = (head.resourceIds[row]! * 2 ** 20 + head.names[row]!) * 32 + head.kinds[row]!;
      let set = known.get(number);
      if (set === undefined) {
        set = this.#setFor(head, row);
        known.set(number, set);
      }
      if (set === null) {
        this.#dropped++;
        continue;
      }
      const seconds = head.durations[row]! / 1e9;
      set.counts[bucketOf(seconds)]!++;
      set.total++;
      set.seconds += seconds;
      set.changed = true;
      set.changedAt = now;
    }
  }

  /** The samples to be written now. */
  flush(now: number): MetricRow[] {
    const rows: MetricRow[] = [];
    for (const set of this.#sets.values()) {
      if (now - set.changedAt > forgetMs) {
        this.#sets.delete(set.key);
        this.#count(set.calls['service']!, -1);
      } else if (set.changed || now - set.emittedAt >= repeatMs) {
        emit(set, now, rows);
        set.changed = false;
        set.emittedAt = now;
      }
    }
    return rows;
  }

  #knownOf(head: Head): Map<number, LabelSet | null> {
    let known = this.#byHead.get(head);
    if (known === undefined) {
      known = new Map();
      this.#byHead.set(head, known);
    }
    return known;
  }

  #setFor(head: Head, row: number): LabelSet | null {
    const resource = head.dictionary.resource(head.resourceIds[row]!);
    const device = textIn(resource, 'device_id');
    const labels: Record<string, string> = {
      service: textIn(resource, 'service.name') ?? '',
      span_name: head.dictionary.text(head.names[row]!),
      span_kind: kinds[head.kinds[row]! >> 2]!,
      status_code: statuses[head.kinds[row]! & 3]!,
      ...(device !== undefined && { device_id: device }),
    };
    const key = JSON.stringify(labels);
    let set = this.#sets.get(key);
    if (set === undefined) {
      if (!this.#hasRoom(labels['service']!)) {
        return null;
      }
      set = emptySet(key, labels);
      this.#sets.set(key, set);
      this.#count(labels['service']!, 1);
    }
    return set;
  }

  #hasRoom(service: string): boolean {
    const free = Math.floor(this.#maxSeries / seriesPerSet) - this.#sets.size;
    const own = this.#ofService.get(service) ?? 0;
    return free > 0 && (own < smallService || own * (100 - serviceShare) < free * serviceShare);
  }

  #count(service: string, change: 1 | -1): void {
    const count = (this.#ofService.get(service) ?? 0) + change;
    if (count === 0) {
      this.#ofService.delete(service);
    } else {
      this.#ofService.set(service, count);
    }
  }
}

function bucketOf(seconds: number): number {
  for (let i = 0; i < bucketCount; i++) {
    if (seconds <= bounds[i]!) {
      return i;
    }
  }
  return bucketCount;
}

function textIn(attributes: readonly Attribute[], key: string): string | undefined {
  const value = attributes.find((entry) => entry.key === key)?.value;
  return value?.type === 'string' ? value.value : undefined;
}

function emptySet(key: string, labels: Readonly<Record<string, string>>): LabelSet {
  const named = (name: string): Readonly<Record<string, string>> => ({ __name__: name, ...labels });
  return {
    key,
    calls: named('traces_spanmetrics_calls_total'),
    count: named('traces_spanmetrics_latency_count'),
    sum: named('traces_spanmetrics_latency_sum'),
    buckets: [...bounds.map(String), '+Inf'].map((le) => ({
      ...named('traces_spanmetrics_latency_bucket'),
      le,
    })),
    counts: new Float64Array(bucketCount + 1),
    total: 0,
    seconds: 0,
    changed: false,
    changedAt: 0,
    emittedAt: 0,
  };
}

function emit(set: LabelSet, time: number, rows: MetricRow[]): void {
  rows.push(
    { labels: set.calls, time, value: set.total },
    { labels: set.count, time, value: set.total },
    { labels: set.sum, time, value: set.seconds },
  );
  let below = 0;
  set.buckets.forEach((labels, index) => {
    below += set.counts[index]!;
    rows.push({ labels, time, value: below });
  });
}
