import { SvcError } from 'svc/sdk';
import { type Budget, matcher, type Matcher } from 'svc/query';
import { memoryOf } from 'svc/store';
import { type ThreadSetup, transferred } from 'svc/thread';

import { Desk } from './desk.ts';
import { foundTrace, matrixOf } from './found-trace.ts';
import { metricBodies } from './metric-bodies.ts';
import { Passing } from './store/passing.ts';
import { gather, spanSource } from './store/scan.ts';
import { metricsJson, searchJson } from './store/search-json.ts';
import { openTracesStore } from './store/store.ts';
import { fieldOf, type TagNames, tagNames, type TagValue, tagValues } from './store/tags.ts';
import { tagsJson, tagsJsonByScope, tagValuesJson, typedTagValuesJson } from './store/tags-json.ts';
import { traceIdOf } from './store/trace-id.ts';
import { answerProto, noTrace, traceJson, tracesProto } from './store/trace-json.ts';
import type { Asked, Call, MetricsInput, SearchInput, TagsInput, TagValuesInput, TraceInput, TracesData, TracesMethods } from './thread-contract.ts';
import {
  assertFieldsAlone,
  assertOneFilter,
  assertSpansAlone,
  enforcedQuery,
  metrics,
  type MetricsResult,
  parse,
  printQuery,
  queryOfTags,
  search,
  type SearchResult,
  sightOf,
  withNames,
} from './traceql/engine.ts';
import type { SpanSource } from './traceql/source.ts';
import type { TraceSpans } from './traceql/span.ts';

export interface TracesService {
  readonly methods: TracesMethods;
  close(): Promise<void>;
}

export type TracesSetup = Pick<ThreadSetup, 'data' | 'log' | 'notify' | 'now' | 'every'>;

const tendEveryMs = 5_000;
const metricsEveryMs = 15_000;
const mostTraces = 1_000;
const mostSpansPerSpanSet = 1_000;
const mostValues = 5_000;
const usualQuery = { timeoutMs: 30_000, maxSpans: 50_000_000 };

/** Store and language of the traces area, behind the methods that its thread answers. */
export async function openTraces({ data, log, notify, now, every }: TracesSetup): Promise<TracesService> {
  const { folder, limits = {}, query: questions = usualQuery, nativeBinding } = data as TracesData;
  const store = await openTracesStore({ folder, log, now, limits, ...(nativeBinding !== undefined && { nativeBinding }) });
  const desk = new Desk(store, questions, now);
  const passing = new Passing(store, now);
  const bodiesOf = metricBodies();
  let toldAt = now();

  const found = async (input: SearchInput, call: Call, source: SpanSource): Promise<SearchResult> => {
    const query = parse(input.query !== undefined && input.query.trim() !== '' ? input.query : queryOfTags(input));
    const options = {
      window: { startMs: input.start, endMs: input.end },
      limit: within(input.limit, 20, mostTraces, 'limit'),
      spansPerSpanset: within(input.spansPerSpanSet, 3, mostSpansPerSpanSet, 'spss'),
      enforce: matchersOf(input),
    };
    return desk.ask(input, call, (cost) => search(source, query, options, cost));
  };

  const told = async (input: SearchInput, call: Call, source: SpanSource): ReturnType<TracesMethods['search']> => {
    const { traces, partial } = await found(input, call, source);
    return { partial, traces: traces.map(foundTrace) };
  };

  const measured = async (input: MetricsInput, call: Call): Promise<MetricsResult> => {
    const query = parse(input.query);
    const options = { start: input.start, end: input.end, step: input.step, enforce: matchersOf(input) };
    return desk.ask(input, call, (cost) => metrics(store.source(), query, options, cost));
  };

  const names = async (input: Omit<TagsInput, 'version' | 'scope'>, call: Call): Promise<TagNames> => {
    const options = { window: { startMs: input.start, endMs: input.end }, enforce: matchersOf(input) };
    return desk.ask(input, call, (cost: Budget) => tagNames(store.shelves, options, cost));
  };

  const values = async (input: TagValuesInput, call: Call): Promise<readonly TagValue[]> => {
    const options = {
      window: { startMs: input.start, endMs: input.end },
      enforce: matchersOf(input),
      limit: within(input.limit, mostValues, mostValues, 'limit'),
      ...(input.query !== undefined && { query: input.query }),
    };
    return desk.ask(input, call, (cost) => tagValues(store.shelves, input.tag, options, cost));
  };

  async function tend(atOnce: boolean): Promise<void> {
    if (atOnce || now() - toldAt >= metricsEveryMs) {
      toldAt = now();
      const bodies = bodiesOf(store.metricRows());
      if (bodies.length > 0) {
        notify(
          'span-metrics',
          bodies,
          bodies.flatMap(({ body }) => memoryOf(body)),
        );
      }
    }
    await store.tend({ now: atOnce });
  }

  const methods: TracesMethods = {
    push: ({ format, body, ...options }) => store.push(format, body, options),
    search: (input, call) => told(input, call, store.source()),
    searchJson: async (input, call) => moved(searchJson(await found(input, call, store.source()), { plain: (input.query ?? '').trim() === '' })),
    async trace(input, call) {
      const id = traceIdOf(input.traceId);
      return shown(await desk.ask(input, call, () => store.trace(id)), input);
    },
    tagNames: names,
    tagsJson: async (input, call) => moved((input.version === 1 ? tagsJson : tagsJsonByScope)(await names(input, call), input.scope)),
    tagValues: values,
    tagValuesJson: async (input, call) => moved((input.version === 1 ? tagValuesJson : typedTagValuesJson)(await values(input, call))),
    metrics: async (input, call) => matrixOf(await measured(input, call)),
    metricsJson: async (input, call) => moved(metricsJson(await measured(input, call))),
    async instantJson({ start, end, ...asked }, call) {
      // The one point at its end tells of all spans that start in the window.
      const result = await measured({ ...asked, start: end, end, step: Math.max(1, end - start) }, call);
      return moved(metricsJson(result, { instant: true }));
    },
    check: ({ query }) => ({ printed: printQuery(parse(query)) }),
    async tend(input) {
      await tend(input?.now === true);
      return store.stats();
    },
    stats: () => store.stats(),
    status() {
      const trouble = store.refusal();
      const { running, waiting } = desk.gate;
      return { ...store.stats(), queries: { running, waiting, asked: desk.asked }, ...(trouble !== undefined && { trouble }) };
    },
    settle(settings) {
      store.setLimits(settings.limits);
      desk.limits = settings.query;
    },
    relay({ format, body, ...options }) {
      const relayed = passing.take(format, body, options);
      return relayed.body === undefined ? relayed : transferred(relayed, [relayed.body]);
    },
    relayed: ({ ticket, sent }) => passing.end(ticket, sent),
    render: (input) => shown(gather(passing.shelvesOf([input.body]), traceIdOf(input.traceId)), input),
    judge: (input, call) => told(input, call, spanSource(passing.shelvesOf(input.bodies))),
    enforced({ query, asks, ...asked }) {
      const parsed = parse(query);
      if (asks === 'metrics') {
        assertSpansAlone(parsed);
      } else if (asks !== 'traces') {
        assertOneFilter(parsed);
        assertSpansAlone(parsed);
        assertFieldsAlone([fieldOf(asks.tag)]);
      }
      const narrowed = enforcedQuery(parsed, matchersOf(asked));
      return printQuery(asks === 'traces' ? withNames(narrowed) : narrowed);
    },
  };
  every(tendEveryMs, () => tend(false));
  // Whoever restarted this thread may have newer settings than it was started with.
  notify('open', undefined);
  return { methods, close: () => store.close() };
}

/** What the asker may see of a trace, in the form that was asked for. */
function shown(trace: TraceSpans | undefined, { form, ...asked }: TraceInput): Uint8Array | undefined {
  const visible = trace === undefined ? undefined : sightOf(matchersOf(asked)).visible(trace);
  switch (form) {
    case 'v1':
      return visible && moved(traceJson(visible, form));
    case 'v2':
      return moved(visible === undefined ? Uint8Array.from(Buffer.from(noTrace)) : traceJson(visible, form));
    case 'proto':
      return visible && moved(tracesProto([visible]));
    case 'proto2':
      return moved(visible === undefined ? new Uint8Array() : answerProto(tracesProto([visible])));
  }
}

/** Bytes that were made for the answer alone move to the asker. */
const moved = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => transferred(bytes, [bytes]);

const matchersOf = ({ enforce = [] }: Asked): readonly Matcher[] => enforce.map(({ name, op, value }) => matcher(name, op, value));

function within(value: number | undefined, usual: number, most: number, name: string): number {
  if (value === undefined) {
    return usual;
  }
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new SvcError('invalid_argument', `${name} must be from 1 to ${most}`);
  }
  return value;
}
