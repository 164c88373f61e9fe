import type {
  InstantAnswer,
  LabelRecord,
  MatrixAnswer,
  MetricsQueries,
} from 'svc/contracts/metricsdb';
import { askedWindow, type AskingOf, parseDuration, windowAsked } from 'svc/query';
import { type Clock, type SkillRun, timestamp, type ToolSkill, toolSkill } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { errors } from './errors.ts';

const Window = {
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
};
const maxSeries = 100;
const maxDrawn = 20;
const pointsWanted = 60;
const maxNames = 200;

const Query = Type.String({ minLength: 1, maxLength: 4_000, description: 'PromQL.' });
const Instant = Type.Object({
  query: Query,
  at: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
});
const Range = Type.Object({
  query: Query,
  ...Window,
  step: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Step, such as 1m; default: a sixtieth of the window.',
    }),
  ),
});
const Find = Type.Object({
  text: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^[A-Za-z0-9_:]*$',
      description: 'Only metrics whose name contains this text.',
    }),
  ),
  device_id: Type.Optional(Type.Integer({ minimum: 1 })),
  ...Window,
});
const Outliers = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description:
      'PromQL query that returns one value per device, such as avg by (device_id) (node_load1).',
  }),
  at: Instant.properties.at,
});

/** Questions about metrics for people and agents, answered small enough to be read. */
export class MetricSkills {
  readonly #queries: MetricsQueries;
  readonly #clock: Clock;
  readonly #asking: AskingOf;

  constructor(queries: MetricsQueries, asking: AskingOf, clock: Clock) {
    this.#queries = queries;
    this.#asking = asking;
    this.#clock = clock;
  }

  all(): readonly ToolSkill[] {
    const common = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;
    return [
      toolSkill({
        ...common,
        key: 'metrics_query',
        name: 'Metric values now',
        description:
          'Evaluates a PromQL query at one point in time and returns the value of every selected series.',
        params: Instant,
        run: (params, run) => this.#instant(params, run),
      }),
      toolSkill({
        ...common,
        key: 'metrics_range',
        name: 'Metric values over time',
        description:
          'Evaluates PromQL over a window and returns the points, minimum, maximum, mean and last value of each series.',
        params: Range,
        run: (params, run) => this.#range(params, run),
      }),
      toolSkill({
        ...common,
        key: 'metrics_find',
        name: 'Find metrics',
        description:
          'Names of the available metrics, with their labels; filter by part of the name or by device.',
        params: Find,
        run: (params, run) => this.#find(params, run),
      }),
      toolSkill({
        ...common,
        key: 'metrics_outliers',
        name: 'Outliers among devices',
        description:
          'Compares the series of a PromQL query with each other and returns outliers: those far from the median, measured in robust deviations.',
        params: Outliers,
        run: (params, run) => this.#outliers(params, run),
      }),
    ];
  }

  #at(at: string | undefined): number {
    return at === undefined ? this.#clock.now() : Date.parse(at);
  }

  async #instant(
    { query, at }: Static<typeof Instant>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const time = this.#at(at);
    const answer = await this.#queries.instant(query, time, {
      signal,
      ...(await this.#asking(principal)),
    });
    const series = valuesOf(answer);
    return {
      at: timestamp(time),
      type: answer.type,
      total: series.length,
      series: series.slice(0, maxSeries),
      warnings: answer.warnings,
    };
  }

  async #range(
    { query, step, ...asked }: Static<typeof Range>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const { start, end } = windowAsked(asked, this.#clock.now());
    const stepMs =
      step === undefined
        ? Math.max(1_000, Math.ceil((end - start) / pointsWanted / 1_000) * 1_000)
        : parseDuration(step);
    if (stepMs <= 0) {
      throw errors.step();
    }
    const answer = await this.#queries.range(
      query,
      { start, end, step: stepMs },
      { signal, ...(await this.#asking(principal)) },
    );
    return {
      from: timestamp(start),
      to: timestamp(end),
      step_seconds: stepMs / 1_000,
      total: answer.labels.length,
      series: answer.labels
        .slice(0, maxDrawn)
        .map((labels, index) => ({ labels, ...lineOf(answer, index) })),
      warnings: answer.warnings,
    };
  }

  async #find(
    { text = '', device_id: device, ...asked }: Static<typeof Find>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const matcher = `{__name__=~".*${text}.*"${device === undefined ? '' : `,device_id="${device}"`}}`;
    const found = await this.#queries.series([matcher], window, {
      signal,
      ...(await this.#asking(principal)),
    });
    const names = new Map<string, { series: number; labels: Set<string> }>();
    for (const { __name__: name = '', ...labels } of found) {
      const known = names.get(name) ?? { series: 0, labels: new Set() };
      names.set(name, known);
      known.series += 1;
      Object.keys(labels).forEach((label) => known.labels.add(label));
    }
    const metrics = [...names]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { series, labels }]) => ({ name, series, labels: [...labels].sort() }));
    return { total: metrics.length, metrics: metrics.slice(0, maxNames) };
  }

  async #outliers(
    { query, at }: Static<typeof Outliers>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const time = this.#at(at);
    const answer = await this.#queries.instant(query, time, {
      signal,
      ...(await this.#asking(principal)),
    });
    const series = valuesOf(answer).filter(({ value }) => Number.isFinite(value));
    const middle = medianOf(series.map(({ value }) => value));
    // Of a normal distribution, the median deviation times this is its standard deviation.
    const spread = 1.4826 * medianOf(series.map(({ value }) => Math.abs(value - middle)));
    const judged = series
      .map((one) => ({
        ...one,
        deviations: one.value === middle ? 0 : (one.value - middle) / spread,
      }))
      .filter(({ deviations }) => Math.abs(deviations) >= 3.5)
      .toSorted((a, b) => Math.abs(b.deviations) - Math.abs(a.deviations));
    const shown = judged.slice(0, maxSeries).map((one) => ({
      ...one,
      deviations: Number.isFinite(one.deviations) ? Number(one.deviations.toFixed(1)) : null,
    }));
    return {
      at: timestamp(time),
      compared: series.length,
      median: middle,
      spread,
      outliers: shown,
      warnings: answer.warnings,
    };
  }
}

interface Value {
  readonly labels: LabelRecord;
  readonly value: number;
}

function valuesOf(answer: InstantAnswer): Value[] {
  switch (answer.type) {
    case 'scalar':
    case 'string':
      return [{ labels: {}, value: Number(answer.value) }];
    case 'vector':
      return answer.labels.map((labels, index) => ({ labels, value: answer.values[index]! }));
    case 'matrix':
      return answer.labels.map((labels, index) => ({
        labels,
        value: answer.values[index]!.at(-1) ?? Number.NaN,
      }));
  }
}

function lineOf({ times, values }: MatrixAnswer, index: number): object {
  const points = [...times[index]!]
    .map((time, i) => [Math.round(time / 1_000), values[index]![i]!] as const)
    .filter(([, value]) => Number.isFinite(value));
  const found = points.map(([, value]) => value);
  const [least, greatest] = [
    found.reduce((a, b) => Math.min(a, b), Infinity),
    found.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const mean = found.reduce((sum, value) => sum + value, 0) / found.length;
  return found.length === 0
    ? { points: [] }
    : { min: least, max: greatest, mean, last: found.at(-1), points };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  return sorted.length === 0
    ? 0
    : sorted.length % 2 === 1
      ? sorted[upper]!
      : (sorted[upper - 1]! + sorted[upper]!) / 2;
}
