import { SvcError } from 'svc/sdk';
import { type Budget, matcher, type Matcher, type QueryRunner } from 'svc/query';

import type { TracesStore } from './store/store.ts';
import { type TagNames, tagNames, type TagValue, tagValues } from './store/tags.ts';
import type { Asked, Call, InstantInput, MetricsInput, SearchInput, TagsInput, TagValuesInput } from './thread-contract.ts';
import { metrics, type MetricsResult, parse, queryOfTags, search, type SearchResult } from './traceql/engine.ts';
import type { SpanSource } from './traceql/source.ts';
import type { TraceSpans } from './traceql/span.ts';

const mostTraces = 1_000;
const mostSpansPerSpanSet = 1_000;
const mostValues = 5_000;

/** The queries of the thread, with their defaults and limits; what they find is not yet in any format. */
export class StoreQueries {
  readonly #store: TracesStore;
  readonly #runner: QueryRunner;

  constructor(store: TracesStore, runner: QueryRunner) {
    this.#store = store;
    this.#runner = runner;
  }

  /** Among the spans of the store, unless others are given. */
  async search(input: SearchInput, call: Call, source?: SpanSource): Promise<SearchResult> {
    const query = parse(input.query !== undefined && input.query.trim() !== '' ? input.query : queryOfTags(input));
    const options = {
      window: { startMs: input.start, endMs: input.end },
      limit: within(input.limit, 20, mostTraces, 'limit'),
      spansPerSpanset: within(input.spansPerSpanSet, 3, mostSpansPerSpanSet, 'spss'),
      enforce: matchersOf(input),
    };
    const spans = source ?? this.#store.source();
    return this.#run(input, call, (budget) => search(spans, query, options, budget));
  }

  trace(id: Uint8Array, input: Asked, call: Call): Promise<TraceSpans | undefined> {
    return this.#run(input, call, () => this.#store.trace(id));
  }

  async metrics(input: MetricsInput, call: Call): Promise<MetricsResult> {
    const query = parse(input.query);
    const { start, end, step, exemplars } = input;
    const options = { start, end, step, enforce: matchersOf(input), ...(exemplars !== undefined && { exemplars }) };
    return this.#run(input, call, (budget) => metrics(this.#store.source(), query, options, budget));
  }

  /** One point, at the end of the window, of all spans that start in it. */
  async instant({ start, end, ...asked }: InstantInput, call: Call): Promise<MetricsResult> {
    return this.metrics({ ...asked, start: end, end, step: Math.max(1, end - start) }, call);
  }

  async tagNames(input: Omit<TagsInput, 'version' | 'scope'>, call: Call): Promise<TagNames> {
    const { start, end, query } = input;
    const options = { window: { startMs: start, endMs: end }, enforce: matchersOf(input), ...(query !== undefined && { query }) };
    return this.#run(input, call, (budget) => tagNames(this.#store.tables, options, budget));
  }

  async tagValues(input: TagValuesInput, call: Call): Promise<readonly TagValue[]> {
    const options = {
      window: { startMs: input.start, endMs: input.end },
      enforce: matchersOf(input),
      limit: within(input.limit, mostValues, mostValues, 'limit'),
      ...(input.query !== undefined && { query: input.query }),
    };
    return this.#run(input, call, (budget) => tagValues(this.#store.tables, input.tag, options, budget));
  }

  /** Damaged blocks are left out, and the query is run again without them. */
  #run<T>({ asker, timeoutMs, maxSamples }: Asked, { signal }: Call, query: (budget: Budget) => Promise<T>): Promise<T> {
    return this.#runner.run({ signal, asker, timeoutMs, maxSamples }, (budget) => this.#store.read(() => query(budget)));
  }
}

export const matchersOf = ({ enforce = [] }: Asked): readonly Matcher[] => enforce.map(({ name, op, value }) => matcher(name, op, value));

function within(value: number | undefined, usual: number, most: number, name: string): number {
  if (value === undefined) {
    return usual;
  }
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new SvcError('invalid_argument', `${name} must be from 1 to ${most}`);
  }
  return value;
}
