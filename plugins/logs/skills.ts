import type { LogQueries } from 'svc/contracts/logs';
import { askedWindow, type AskingOf, windowAsked } from 'svc/query';
import { type Clock, type SkillRun, timestamp, type ToolSkill, toolSkill } from 'svc/sdk';
import { type Static, Type } from 'typebox';

const Window = {
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
};
const maxTemplates = 40;
const maxSeries = 100;
const longestLine = 1_000;
const longestExample = 200;

const Lines = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description: 'LogQL, such as {unit="nginx"} |= "error".',
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
    description: 'LogQL that selects lines, such as {device_id="7"}.',
  }),
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
          'Lines that a LogQL query selects within a window; for a metric query, its values at the end of the window.',
        params: Lines,
        run: (params, run) => this.#lines(params, run),
      }),
      toolSkill({
        ...common,
        key: 'logs_templates',
        name: 'Kinds of log lines',
        description:
          'Summary of the log lines within a window: lines that differ in only a few places are grouped as one kind, the most frequent first.',
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
