import type { LogQueries } from 'svc/contracts/logs';
import { askedWindow, type AskingOf, parseDuration, windowAsked } from 'svc/query';
import { type Clock, type SkillRun, timestamp, type ToolSkill, toolSkill } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { errors } from './errors.ts';

const Window = {
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
};
const maxTemplates = 40;
const maxSeries = 100;
const maxDrawn = 20;
const pointsWanted = 60;
const maxNames = 300;
const longestLine = 1_000;
const longestExample = 200;

const Lines = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description: 'LogQL query, such as {unit="nginx"} |= "error".',
  }),
  ...Window,
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  direction: Type.Enum(['backward', 'forward'], {
    default: 'backward',
    description: 'backward: newest first; forward: oldest first.',
  }),
});
const Templates = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description: 'LogQL query that selects lines, such as {device_id="7"}.',
  }),
  ...Window,
});

const Range = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description:
      'LogQL metric query, such as sum by (unit) (count_over_time({unit=~".+"} |= "error" [5m])).',
  }),
  ...Window,
  step: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Step, such as 1m; default: a sixtieth of the window.',
    }),
  ),
});
const Labels = Type.Object({
  name: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,199}$',
      description: 'Label to list the values of; if omitted, the names of all labels are listed.',
    }),
  ),
  ...Window,
});

/** Questions about logs for people and agents. */
export class LogSkills {
  readonly #queries: LogQueries;
  readonly #clock: Clock;
  readonly #asking: AskingOf;

  constructor(queries: LogQueries, asking: AskingOf, clock: Clock) {
    this.#asking = asking;
    this.#queries = queries;
    this.#clock = clock;
  }

  all(): readonly ToolSkill[] {
    const common = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;
    return [
      toolSkill({
        ...common,
        key: 'logs_query',
        name: 'Search logs',
        description:
          'Log lines selected by a LogQL query within a window; for a metric query, its values at the end of the window.',
        params: Lines,
        run: (params, run) => this.#lines(params, run),
      }),
      toolSkill({
        ...common,
        key: 'logs_range',
        name: 'Numbers from logs over time',
        description:
          'Evaluates a LogQL metric query over a window and returns the points, minimum, maximum and last value of each series.',
        params: Range,
        run: (params, run) => this.#range(params, run),
      }),
      toolSkill({
        ...common,
        key: 'logs_labels',
        name: 'Labels of logs',
        description:
          'Names of the labels that log streams have within a window, or the values of one label, for use in LogQL selectors.',
        params: Labels,
        run: (params, run) => this.#labels(params, run),
      }),
      toolSkill({
        ...common,
        key: 'logs_templates',
        name: 'Kinds of log lines',
        description:
          'Summary of the log lines within a window: lines that differ in only a few places are grouped together, most frequent group first.',
        params: Templates,
        run: (params, run) => this.#templates(params, run),
      }),
    ];
  }

  async #lines(
    { query, limit, direction, ...asked }: Static<typeof Lines>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const options = { signal, ...(await this.#asking(principal)) };
    if ((await this.#queries.check(query)).type !== 'lines') {
      const answer = await this.#queries.instant(query, window.end, options);
      const series =
        answer.type === 'vector'
          ? answer.labels.map((labels, index) => ({ labels, value: answer.values[index]! }))
          : [];
      return {
        at: timestamp(window.end),
        total: series.length,
        series: series.slice(0, maxSeries),
        warnings: answer.warnings,
      };
    }
    const { lines, partial, warnings } = await this.#queries.lines(query, window, {
      ...options,
      limit,
      direction,
    });
    return {
      from: timestamp(window.start),
      to: timestamp(window.end),
      shown: lines.length,
      more: lines.length >= limit || partial,
      lines: lines.map(({ at, labels, line }) => ({
        at: timestamp(at.ms),
        labels,
        line: line.slice(0, longestLine),
      })),
      warnings,
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
    const { labels, times, values, warnings } = await this.#queries.range(
      query,
      { start, end, step: stepMs },
      { signal, ...(await this.#asking(principal)) },
    );
    return {
      from: timestamp(start),
      to: timestamp(end),
      step_seconds: stepMs / 1_000,
      total: labels.length,
      series: labels.slice(0, maxDrawn).map((own, index) => {
        const found = [...values[index]!];
        return {
          labels: own,
          min: Math.min(...found),
          max: Math.max(...found),
          last: found.at(-1),
          points: found.map((value, at) => [Math.round(times[index]![at]! / 1_000), value]),
        };
      }),
      warnings,
    };
  }

  async #labels(
    { name, ...asked }: Static<typeof Labels>,
    { principal }: SkillRun,
  ): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const asking = await this.#asking(principal);
    const found =
      name === undefined
        ? await this.#queries.labels(window, asking)
        : await this.#queries.labelValues(name, window, asking);
    return {
      ...(name !== undefined && { name }),
      total: found.length,
      [name === undefined ? 'labels' : 'values']: found.slice(0, maxNames),
    };
  }

  async #templates(
    { query, ...asked }: Static<typeof Templates>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const { patterns, lines, partial, warnings } = await this.#queries.patterns(query, window, {
      signal,
      ...(await this.#asking(principal)),
    });
    return {
      from: timestamp(window.start),
      to: timestamp(window.end),
      lines,
      only_newest: partial,
      kinds: patterns.length,
      templates: patterns
        .slice(0, maxTemplates)
        .map(({ pattern, count, example, first, last }) => ({
          template: pattern,
          count,
          example: example.slice(0, longestExample),
          first: timestamp(first),
          last: timestamp(last),
        })),
      warnings,
    };
  }
}
