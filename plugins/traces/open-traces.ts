import { QueryRunner } from 'svc/query';
import { endingIfDamaged } from 'svc/store';
import { type ThreadSetup, transferred } from 'svc/thread';

import {
  foundTrace,
  matrixOf,
  moved,
  renderTold,
  renderTrace,
  traceIdOf,
} from './service/answers.ts';
import { readAnswer } from './drivers/remote-answers.ts';
import { matchersOf, StoreQueries, type Told } from './service/store-queries.ts';
import { SpanMetricsNotices } from './span-metrics-writer.ts';
import { Passing } from './store/passing.ts';
import {
  metricsJson,
  searchJson,
  tagsJson,
  tagsJsonByScope,
  tagValuesJson,
  typedTagValuesJson,
  withWarnings,
} from './store/read/answer-json.ts';
import { gather, spanSource } from './store/read/scan.ts';
import { fieldOf } from './store/read/tags.ts';
import { openTracesStore } from './store/store.ts';
import type { EnforcedInput, TracesData, TracesMethods } from './thread/contract.ts';
import {
  assertFieldsAlone,
  assertOneFilter,
  assertSpansAlone,
  enforcedQuery,
  parse,
  printQuery,
  type SearchResult,
  withNames,
} from './traceql/index.ts';

export interface TracesService {
  readonly methods: TracesMethods;
  close(): Promise<void>;
}

export type TracesSetup = Pick<ThreadSetup, 'data' | 'log' | 'notify' | 'now' | 'every'> & {
  readonly monotonic?: () => number;
};

const tendEveryMs = 5_000;
const usualQuery = { timeoutMs: 30_000, cpuMs: 10_000, maxSamples: 50_000_000 };

/** Store and language of the traces area, behind the methods that its thread answers. */
export async function openTraces({
  data,
  log,
  notify,
  now,
  monotonic,
  every,
}: TracesSetup): Promise<TracesService> {
  const { folder, limits = {}, query = usualQuery, nativeBinding } = data as TracesData;
  const store = await openTracesStore({
    folder,
    log,
    now,
    ...(monotonic !== undefined && { monotonic }),
    limits,
    ...(nativeBinding !== undefined && { nativeBinding }),
  });
  const runner = new QueryRunner(query);
  const queries = new StoreQueries(store, runner);
  const passing = new Passing(store, now);
  const spanMetrics = new SpanMetricsNotices(() => store.metricRows(), { notify, now });
  const tend = async (atOnce: boolean): Promise<void> => {
    spanMetrics.send({ atOnce });
    await store.tend({ now: atOnce });
  };

  every(
    tendEveryMs,
    endingIfDamaged(() => tend(false)),
  );
  // A restarted thread gets the data of its first start: the plugin sends newer settings on this
  // notice.
  notify('open', undefined);
  const methods: TracesMethods = {
    async push({ format, body, ...options }) {
      const taken = await store.push(format, body, options);
      // On time, which the timer is only by five seconds of the machine; by the clock that is given, where hours are passed in seconds.
      spanMetrics.send({ atOnce: false });
      return taken;
    },
    ...askedMethods(queries),
    check: (input) => ({ printed: printQuery(parse(input.query)) }),
    async tend(input) {
      await tend(input?.now === true);
      return store.stats();
    },
    stats: () => store.stats(),
    care: (what) => store.care(what),
    status() {
      const trouble = store.refusal();
      return { ...store.stats(), queries: runner.load, ...(trouble !== undefined && { trouble }) };
    },
    settle(settings) {
      store.setLimits(settings.limits);
      runner.limits = settings.query;
    },
    ...relayMethods(passing, queries),
    enforced: narrowed,
  };
  return { methods, close: () => store.close() };
}

type AskedMethods = Pick<
  TracesMethods,
  | 'search'
  | 'searchJson'
  | 'trace'
  | 'tagNames'
  | 'tagsJson'
  | 'tagValues'
  | 'tagValuesJson'
  | 'metrics'
  | 'metricsJson'
  | 'instantJson'
>;

/** Questions to the own store, each as objects and as Tempo writes the answer. */
const askedMethods = (queries: StoreQueries): AskedMethods => ({
  search: async (input, call) => foundIn(await queries.search(input, call)),
  searchJson: async (input, call) =>
    told(await queries.search(input, call), (found) =>
      searchJson(found, { plain: (input.query ?? '').trim() === '' }),
    ),
  trace: async (input, call) =>
    renderTold(await queries.trace(traceIdOf(input.traceId), input, call), input),
  tagNames: async (input, call) => (await queries.tagNames(input, call)).answer,
  tagsJson: async (input, call) =>
    told(await queries.tagNames(input, call), (names) =>
      (input.version === 1 ? tagsJson : tagsJsonByScope)(names, input.scope),
    ),
  tagValues: async (input, call) => (await queries.tagValues(input, call)).answer,
  tagValuesJson: async (input, call) =>
    told(
      await queries.tagValues(input, call),
      input.version === 1 ? tagValuesJson : typedTagValuesJson,
    ),
  metrics: async (input, call) => matrixOf(await queries.metrics(input, call, (found) => found)),
  metricsJson: async (input, call) => told(await queries.metrics(input, call, metricsJson), asIs),
  instantJson: async (input, call) =>
    told(
      await queries.instant(input, call, (found, budget) =>
        metricsJson(found, budget, { instant: true }),
      ),
      asIs,
    ),
});

/**
 * Methods for another server: spans on their way to it, and its answers, which are checked here.
 */
const relayMethods = (
  passing: Passing,
  queries: StoreQueries,
): Pick<TracesMethods, 'relay' | 'relayed' | 'render' | 'judge' | 'readAnswer'> => ({
  readAnswer: ({ kind, body }) => readAnswer(kind, body),
  relay({ format, body, ...options }) {
    const relayed = passing.take(format, body, options);
    return relayed.body === undefined ? relayed : transferred(relayed, [relayed.body]);
  },
  relayed: ({ ticket, sent }) => passing.end(ticket, sent),
  render: (input) =>
    renderTrace(gather(passing.tablesOf([input.body]), traceIdOf(input.traceId)), input),
  judge: async (input, call) =>
    foundIn(await queries.search(input, call, spanSource(passing.tablesOf(input.bodies)))),
});

const told = <T>(
  { answer, warnings }: Told<T>,
  written: (answer: T) => Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> => moved(withWarnings(written(answer), warnings));

const asIs = <T>(answer: T): T => answer;

const foundIn = ({
  answer: { traces, partial },
  warnings,
}: Told<SearchResult>): Awaited<ReturnType<TracesMethods['search']>> => ({
  partial: partial || warnings.length > 0,
  traces: traces.map(foundTrace),
  warnings,
});

/** A query that another server can answer without seeing more than the asker may; refused where no rewriting can make it so. */
function narrowed({ query, asks, ...asked }: EnforcedInput): string {
  const parsed = parse(query);
  if (asks === 'metrics') {
    assertSpansAlone(parsed);
  } else if (asks !== 'traces') {
    assertOneFilter(parsed);
    assertSpansAlone(parsed);
    if (asks !== 'names') {
      assertFieldsAlone([fieldOf(asks.tag)]);
    }
  }
  const enforced = enforcedQuery(parsed, matchersOf(asked));
  return printQuery(asks === 'traces' ? withNames(enforced) : enforced);
}
