import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type Budget, budget, labelsRecord } from 'svc/query';

import { instant as instantOfLogs } from '../../plugins/logs/logql/index.ts';
import { openLogStore } from '../../plugins/logs/store/store.ts';
import { instant } from '../../plugins/metricsdb/promql/index.ts';
import { valueText } from '../../plugins/traces/store/head/otlp-values.ts';
import {
  tagsJson,
  tagsJsonByScope,
  tagValuesJson,
  typedTagValuesJson,
} from '../../plugins/traces/store/read/answer-json.ts';
import { tagNames, tagValues } from '../../plugins/traces/store/read/tags.ts';
import { openTracesStore, type TracesStore } from '../../plugins/traces/store/store.ts';
import { metrics, parse, queryOfTags, search } from '../../plugins/traces/traceql/index.ts';
import { startMs } from '../plugins/traces/bodies.ts';
import { jsonOf, quiet } from '../plugins/traces/store-house.ts';
import { crashOptions } from './logs-crash-model.ts';
import { openIn } from './metrics-crash-model.ts';
import { keyOf } from './metrics-differential-model.ts';
import type { Random } from './traces-differential-model.ts';
import { programOf } from '../program-of.ts';

export type Signal = 'metrics' | 'logs' | 'traces';

export interface DrillQuestion {
  /**
   * Kind of query for traces: search by a query or by tags, span counts, or names or values of
   * tags.
   */
  readonly kind?: 'search' | 'metrics' | 'tags' | 'names' | 'values';
  readonly query: string;
  /** Min duration of a search by tags. */
  readonly minDuration?: string;
  readonly maxDuration?: string;
  /** Tag whose values are requested. */
  readonly tag?: string;
  /** Version of the interface for names and values. */
  readonly version?: 1 | 2;
  /** Time of a query of metrics and logs. */
  readonly time?: number;
}

/** A store under random questions, here or in a process of its own. */
export interface DrillStore {
  push(body: Uint8Array): Promise<void>;
  /** Performs its periodic work: blocks, compaction. */
  tend(atOnce: boolean): Promise<void>;
  ask(question: DrillQuestion): Promise<Map<string, number>>;
  end(): Promise<void>;
}

/** Traces lie in this window. */
export const window = { start: startMs - 1_000, end: startMs + 3_600_000 };

const span = { startMs: window.start, endMs: window.end };

/** Returns tags as the interface does, except for the fields that every span has. */
async function tagsOf(
  { tables }: TracesStore,
  { kind, query, tag = '', version = 1 }: DrillQuestion,
  allowance: Budget,
): Promise<string[]> {
  if (kind === 'values') {
    const values = await tagValues(tables, tag, { window: span, query, limit: 100_000 }, allowance);
    return version === 1
      ? jsonOf(tagValuesJson(values)).tagValues
      : jsonOf(typedTagValuesJson(values)).tagValues.map(
          ({ type, value }: { type: string; value: string }) => `${type} ${value}`,
        );
  }
  const names = await tagNames(tables, { window: span, query }, allowance);
  return version === 1
    ? jsonOf(tagsJson(names)).tagNames
    : jsonOf(tagsJsonByScope(names)).scopes.flatMap((scope: { name: string; tags: string[] }) =>
        scope.name === 'intrinsic' ? [] : scope.tags.map((name) => `${scope.name} ${name}`),
      );
}

export const openers: Readonly<Record<Signal, (folder: string) => Promise<DrillStore>>> = {
  async metrics(folder) {
    const store = await openIn(folder, () => Date.now());
    return {
      push: async (body) => void (await store.push('remote-write', body, { encoding: 'snappy' })),
      tend: () => store.maintain(),
      async ask({ query, time = 0 }) {
        const found = await instant(store.source(), { query, time }, budget({ timeoutMs: 60_000 }));
        return new Map(
          found.type === 'vector'
            ? found.samples.map(({ labels, value }) => [keyOf(labelsRecord(labels)), value])
            : [],
        );
      },
      end: () => store.close(),
    };
  },
  async logs(folder) {
    const store = await openLogStore({ folder, ...crashOptions });
    return {
      push: async (body) => void (await store.push('loki-json', body, {})),
      tend: (atOnce) => (atOnce ? store.flush() : store.tidy()),
      async ask({ query, time = 0 }) {
        const allowance = budget({ timeoutMs: 60_000 });
        const found = await instantOfLogs(
          store.source(),
          { query, time, now: () => time },
          allowance,
        );
        if (allowance.warnings.length > 0) {
          throw new Error(allowance.warnings.join('; '));
        }
        return new Map(
          found.type === 'vector'
            ? found.samples.map(({ labels, value }) => [keyOf(labelsRecord(labels)), value])
            : [],
        );
      },
      end: () => store.close(),
    };
  },
  async traces(folder) {
    // Moves on, as blocks are named by it.
    let clock = startMs + 3_600_000;
    const store = await openTracesStore({
      folder,
      log: quiet,
      now: () => clock++,
      limits: { headSpans: 2_000 },
    });
    return {
      push: async (body) => void (await store.push('otlp-proto', body)),
      tend: (atOnce) => store.tend({ now: atOnce }),
      async ask(question) {
        const { kind, query } = question;
        const allowance = budget({ timeoutMs: 60_000 });
        if (kind === 'names' || kind === 'values') {
          return new Map(
            (await store.read(() => tagsOf(store, question, allowance))).map((one) => [one, 1]),
          );
        }
        if (kind === 'search' || kind === 'tags') {
          const options = { window: span, limit: 100_000, spansPerSpanset: 1 };
          const asked = parse(kind === 'tags' ? queryOfTags({ ...question, tags: query }) : query);
          const { traces } = await store.read(() =>
            search(store.source(), asked, options, allowance),
          );
          return new Map(
            traces.map(({ traceId, spansets }) => [
              traceId,
              spansets.reduce((sum, { matched }) => sum + matched, 0),
            ]),
          );
        }
        const options = { start: window.end, end: window.end, step: window.end - window.start };
        const { series } = await store.read(() =>
          metrics(store.source(), parse(query), options, allowance),
        );
        return new Map(
          series.flatMap(({ labels, values }) =>
            Number.isNaN(values[0]!)
              ? []
              : [
                  [
                    labels
                      .flatMap(({ key, value }) => (key === '__name__' ? [] : [valueText(value)]))
                      .join(),
                    values[0]!,
                  ] as const,
                ],
          ),
        );
      },
      end: () => store.close(),
    };
  },
};

export interface ChildCall {
  readonly id: number;
  readonly method: 'push' | 'tend' | 'ask';
  readonly input: unknown;
}

export interface ChildAnswer {
  readonly id: number;
  readonly found?: Map<string, number> | undefined;
  readonly error?: string;
}

const child = fileURLToPath(new URL('./differential-child.ts', import.meta.url));

/** Opens a store in a process that is killed a moment after it was told to write blocks. */
export async function openKilled(
  signal: Signal,
  folder: string,
  random: Random,
): Promise<DrillStore> {
  const program = programOf(child);
  const process_ = fork(program.at(-1)!, [signal, folder], {
    execArgv: program.slice(0, -1),
    serialization: 'advanced',
  });
  const waiting = new Map<number, (answer: ChildAnswer) => void>();
  const gone = once(process_, 'exit');
  let ids = 0;
  let killed = false;
  process_.on('message', (answer: ChildAnswer) => waiting.get(answer.id)?.(answer));
  process_.once('exit', () =>
    waiting.forEach((answered, id) =>
      answered({ id, error: killed ? 'killed' : 'the process of the store ended by itself' }),
    ),
  );
  const call = async (
    method: ChildCall['method'],
    input: unknown,
  ): Promise<Map<string, number> | undefined> => {
    const id = ++ids;
    const answered = new Promise<ChildAnswer>((resolve) => waiting.set(id, resolve));
    process_.send({ id, method, input } satisfies ChildCall);
    const { found, error } = await answered;
    waiting.delete(id);
    if (error !== undefined && error !== 'killed') {
      throw new Error(error);
    }
    return found;
  };
  return {
    push: async (body) => void (await call('push', body)),
    tend: async (atOnce) => void (await call('tend', atOnce)),
    ask: async (question) => (await call('ask', question))!,
    async end() {
      const writing = call('tend', true);
      await pause(random(40));
      killed = true;
      process_.kill('SIGKILL');
      await Promise.all([gone, writing]);
    },
  };
}
