import { type Budget, matcher, type Matcher, type QueryRunner } from 'svc/query';

import { type TagNames, tagNames, type TagValue, tagValues } from '../store/read/tags.ts';
import type { TracesStore } from '../store/store.ts';
import type {
  Asked,
  Call,
  InstantInput,
  MetricsInput,
  SearchInput,
  TagsInput,
  TagValuesInput,
} from '../thread/contract.ts';
import {
  metrics,
  type MetricsResult,
  parse,
  queryOfTags,
  search,
  type SearchResult,
} from '../traceql/index.ts';
import type { SpanSource } from '../traceql/spans/source.ts';
import type { TraceSpans } from '../traceql/spans/span.ts';
import { errors } from './errors.ts';

const maxTraces = 1_000;
const maxSpansPerSpanSet = 1_000;
const maxValues = 5_000;
/** Spans of a trace that is found may lie beyond the window. */
const aroundMs = 3_600_000;
const ever = { start: -8.64e15, end: 8.64e15 };

type Windowed = Asked & { readonly start: number; readonly end: number };

/** Answer with warnings about what it lacks. */
export interface Told<T> {
  readonly answer: T;
  readonly warnings: readonly string[];
}

type Written<T> = (result: MetricsResult, budget: Budget) => T | Promise<T>;

/** Queries of the thread, with their defaults and limits; results are not in any format yet. */
export class StoreQueries {
  readonly #store: TracesStore;
  readonly #runner: QueryRunner;

  constructor(store: TracesStore, runner: QueryRunner) {
    this.#store = store;
    this.#runner = runner;
  }

  /** Among the spans of the store, unless others are given. */
  async search(input: SearchInput, call: Call, source?: SpanSource): Promise<Told<SearchResult>> {
    const query = parse(
      input.query !== undefined && input.query.trim() !== '' ? input.query : queryOfTags(input),
    );
    const options = {
      window: { startMs: input.start, endMs: input.end },
      limit: within(input.limit, 20, maxTraces, 'limit'),
      spansPerSpanset: within(input.spansPerSpanSet, 3, maxSpansPerSpanSet, 'spss'),
      enforce: matchersOf(input),
    };
    const spans = source ?? this.#store.source();
    return this.#run(input, call, (budget) => search(spans, query, options, budget));
  }

  trace(id: Uint8Array, input: Asked, call: Call): Promise<Told<TraceSpans | undefined>> {
    return this.#run({ ...input, ...ever }, call, () => this.#store.trace(id), id);
  }

  /** `written` belongs to the question: it has its turns and its time. */
  async metrics<T>(
    input: MetricsInput,
    call: Call,
    written: Written<T>,
    closed = false,
  ): Promise<Told<T>> {
    const query = parse(input.query);
    const { start, end, step, exemplars } = input;
    const options = {
      start,
      end,
      step,
      closed,
      enforce: matchersOf(input),
      ...(exemplars !== undefined && { exemplars }),
    };
    return this.#run(input, call, async (budget) =>
      written(await metrics(this.#store.source(), query, options, budget), budget),
    );
  }

  /** One point, at the end of the window, of all spans that start in it. */
  async instant<T>(
    { start, end, ...asked }: InstantInput,
    call: Call,
    written: Written<T>,
  ): Promise<Told<T>> {
    return this.metrics(
      { ...asked, start: end, end, step: Math.max(1, end - start) },
      call,
      written,
      true,
    );
  }

  async tagNames(input: Omit<TagsInput, 'version' | 'scope'>, call: Call): Promise<Told<TagNames>> {
    const { start, end, query } = input;
    const options = {
      window: { startMs: start, endMs: end },
      enforce: matchersOf(input),
      ...(query !== undefined && { query }),
    };
    return this.#run(input, call, (budget) => tagNames(this.#store.tables, options, budget));
  }

  async tagValues(input: TagValuesInput, call: Call): Promise<Told<readonly TagValue[]>> {
    const options = {
      window: { startMs: input.start, endMs: input.end },
      enforce: matchersOf(input),
      limit: within(input.limit, maxValues, maxValues, 'limit'),
      ...(input.query !== undefined && { query: input.query }),
    };
    return this.#run(input, call, (budget) =>
      tagValues(this.#store.tables, input.tag, options, budget),
    );
  }

  async #run<T>(
    { asker, timeoutMs, maxSamples, start, end }: Windowed,
    { signal }: Call,
    query: (budget: Budget) => Promise<T>,
    trace?: Uint8Array,
  ): Promise<Told<T>> {
    const answer = await this.#runner.run({ signal, asker, timeoutMs, maxSamples }, (budget) =>
      this.#store.read(() => query(budget)),
    );
    return {
      answer,
      warnings: this.#store.missing({ startMs: start - aroundMs, endMs: end + aroundMs }, trace),
    };
  }
}

export const matchersOf = ({ enforce = [] }: Asked): readonly Matcher[] =>
  enforce.map(({ name, op, value }) => matcher(name, op, value));

function within(value: number | undefined, usual: number, most: number, name: string): number {
  if (value === undefined) {
    return usual;
  }
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw errors.out_of_range({ name, max: most });
  }
  return value;
}
