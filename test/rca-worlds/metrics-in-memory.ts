import type { MetricsQueries } from 'svc/contracts/metricsdb';
import { budget, type Labels, labelsOf, labelValue, type Matcher } from 'svc/query';

import type { Samples } from '../../plugins/investigate/cli/bench/worlds/metrics/samples.ts';
import {
  instant,
  range,
  type Series,
  type SeriesSource,
} from '../../plugins/metricsdb/promql/index.ts';
import { instantAnswerOf, rangeAnswerOf } from '../../plugins/metricsdb/service/matrix.ts';

interface Kept {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Answers PromQL from the samples of a world as they are, without a store: what it is asked is computed by the engine of svc. */
export function metricsInMemory(
  { series, stepMs }: Samples,
  end: number,
): Pick<MetricsQueries, 'instant' | 'range'> {
  const source = new InMemory(
    series.map(({ labels, phaseMs, values }) => kept(labels, values, end - phaseMs, stepMs)),
  );
  const settled = { lookbackMs: 300_000, delayedNameRemoval: false, enforce: [] };
  return {
    instant: async (query, time) =>
      instantAnswerOf(await instant(source, { ...settled, query, time }, allowance())),
    range: async (query, { start, end: to, step }) =>
      rangeAnswerOf(await range(source, { ...settled, query, start, end: to, step }, allowance())),
  };
}

const allowance = () =>
  budget({ timeoutMs: 120_000, maxSamples: 1e9, maxBytes: 1e12, now: () => performance.now() });

function kept(
  labels: Readonly<Record<string, string>>,
  values: Float64Array,
  last: number,
  stepMs: number,
): Kept {
  const times = new Float64Array(values.length);
  const known = new Float64Array(values.length);
  let length = 0;
  values.forEach((value, step) => {
    if (!Number.isNaN(value)) {
      times[length] = last - (values.length - 1 - step) * stepMs;
      known[length] = value;
      length += 1;
    }
  });
  return {
    labels: labelsOf(Object.entries(labels)),
    times: times.subarray(0, length),
    values: known.subarray(0, length),
  };
}

class InMemory implements SeriesSource {
  readonly #all: readonly Kept[];
  readonly #byName = new Map<string, Kept[]>();

  constructor(all: readonly Kept[]) {
    const byKey = new Map(all.map((one) => [one.labels.join('\0'), one]));
    this.#all = [...byKey.keys()].sort().map((key) => byKey.get(key)!);
    for (const one of this.#all) {
      const name = labelValue(one.labels, '__name__');
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), one]);
    }
  }

  async select(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
  ): Promise<readonly Series[]> {
    const named = matchers.find(({ name, op }) => name === '__name__' && op === '=');
    const among = named === undefined ? this.#all : (this.#byName.get(named.value) ?? []);
    return among.flatMap(({ labels, times, values }): Series[] => {
      if (!matchers.every(({ name, matches }) => matches(labelValue(labels, name)))) {
        return [];
      }
      const [from, to] = [firstAfter(times, mint), firstAfter(times, maxt)];
      return from === to
        ? []
        : [
            {
              labels,
              times: times.subarray(from, to),
              values: values.subarray(from, to),
              length: to - from,
            },
          ];
    });
  }
}

function firstAfter(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
