import type { TraceQueries } from 'svc/contracts/traces';
import { askedWindow, type AskingOf, windowAsked } from 'svc/query';
import { type Clock, type SkillRun, timestamp, type ToolSkill, toolSkill } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { TraceDriver } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { spanLines } from './span-lines.ts';

const Window = {
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
};
const maxSpans = 300;

const Search = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    default: '{}',
    description: 'TraceQL query, such as { status = error && duration > 500ms }.',
  }),
  ...Window,
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
});
const One = Type.Object({ trace_id: Type.String({ pattern: '^[0-9a-fA-F]{1,32}$' }) });

const Tag = Type.Object({
  tag: Type.String({
    pattern: '^[A-Za-z_.][A-Za-z0-9_.:/-]{0,199}$',
    description: 'Attribute, such as resource.service.name, span.http.route, name, status or kind.',
  }),
  query: Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'TraceQL query: only values from matching spans.',
    }),
  ),
  ...Window,
});
const maxValues = 300;
const Tags = Type.Object({
  query: Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'TraceQL query: only attributes of matching spans.',
    }),
  ),
  ...Window,
});
const maxTags = 300;

export interface TraceSkillParts {
  readonly queries: TraceQueries;
  readonly asking: AskingOf;
  readonly clock: Clock;
  readonly driver: () => Pick<TraceDriver, 'tagNames'>;
}

/** Questions about traces for people and agents. */
export class TraceSkills {
  readonly #queries: TraceQueries;
  readonly #clock: Clock;
  readonly #asking: AskingOf;
  readonly #driver: () => Pick<TraceDriver, 'tagNames'>;

  constructor({ queries, asking, clock, driver }: TraceSkillParts) {
    this.#asking = asking;
    this.#driver = driver;
    this.#queries = queries;
    this.#clock = clock;
  }

  all(): readonly ToolSkill[] {
    const common = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;
    return [
      toolSkill({
        ...common,
        key: 'traces_search',
        name: 'Search traces',
        description:
          'Traces that match a TraceQL query within a window: where they began, how long they took, and which services they passed through.',
        params: Search,
        run: (params, run) => this.#search(params, run),
      }),
      toolSkill({
        ...common,
        key: 'trace_get',
        name: 'One trace',
        description:
          'The spans of one trace, ordered by start time: service, name, parent, duration, errors.',
        params: One,
        run: (params, run) => this.#one(params, run),
      }),
      toolSkill({
        ...common,
        key: 'trace_tags',
        name: 'Attributes of traces',
        description:
          'Names of the attributes that spans have within a window, by scope (resource, span, event, link, instrumentation), for use in TraceQL and in trace_tag_values.',
        params: Tags,
        run: (params, run) => this.#tags(params, run),
      }),
      toolSkill({
        ...common,
        key: 'trace_tag_values',
        name: 'Values of a trace attribute',
        description:
          'Values of a span attribute within a window, such as the services, routes or status codes that can be searched for.',
        params: Tag,
        run: async ({ tag, query, ...asked }, { principal }) => {
          const window = windowAsked(asked, this.#clock.now());
          const found = await this.#queries.tagValues(tag, window, {
            ...(query !== undefined && { query }),
            ...(await this.#asking(principal)),
          });
          return {
            tag,
            total: found.length,
            values: found.slice(0, maxValues).map(({ value }) => value),
          };
        },
      }),
    ];
  }

  async #search(
    { query, limit, ...asked }: Static<typeof Search>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const { traces, partial } = await this.#queries.search(query, window, {
      limit,
      signal,
      ...(await this.#asking(principal)),
    });
    return {
      from: timestamp(window.start),
      to: timestamp(window.end),
      shown: traces.length,
      more: partial || traces.length >= limit,
      traces: traces.map(
        ({ traceId, rootService, rootName, startNanos, durationMs, matched, services }) => ({
          trace_id: traceId,
          root_service: rootService,
          root_name: rootName,
          duration_ms: durationMs,
          matched_spans: matched,
          services,
          started_at: timestamp(Number(BigInt(startNanos) / 1_000_000n)),
        }),
      ),
    };
  }

  async #tags({ query, ...asked }: Static<typeof Tags>, { principal }: SkillRun): Promise<object> {
    const window = windowAsked(asked, this.#clock.now());
    const found = await this.#driver().tagNames(window, {
      ...(query !== undefined && { query }),
      ...(await this.#asking(principal)),
    });
    const scopes = Object.entries(found).filter(([, names]) => names.length > 0);
    return {
      total: scopes.reduce((sum, [, names]) => sum + names.length, 0),
      scopes: scopes.map(([scope, names]) => ({ scope, attributes: names.slice(0, maxTags) })),
    };
  }

  async #one(
    { trace_id: id }: Static<typeof One>,
    { principal, signal }: SkillRun,
  ): Promise<object> {
    const found = await this.#queries.trace(id, { signal, ...(await this.#asking(principal)) });
    if (found === undefined) {
      throw errors.no_trace({ id });
    }
    const spans = spanLines(found);
    return {
      trace_id: id,
      spans: spans.slice(0, maxSpans),
      total: spans.length,
      errors: spans.filter(({ error }) => error).length,
    };
  }
}
