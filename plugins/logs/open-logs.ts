import { type Labels, labelsRecord, matcher, type Matcher } from 'svc/query';
import { type ThreadService, type ThreadSetup, transferred } from 'svc/thread';

import type { Enforced, InstantAnswer, MatrixAnswer, Notes } from '../metricsdb/contract.ts';
import type { Line, LinesAnswer, LogIngest } from './contract.ts';
import { Desk } from './desk.ts';
import { check, instant, lines, range, tailer } from './logql/index.ts';
import { answer, type EndpointName } from './loki/endpoints.ts';
import { enforcedQuery } from './loki/enforce.ts';
import { pushBody } from './loki/push-body.ts';
import type { Nanos } from './store/nanos.ts';
import { openLogStore } from './store/store.ts';
import { frameOf, Tails } from './tails.ts';
import type {
  AskInput,
  EndpointInput,
  NamesInput,
  OpenedTail,
  PushInput,
  RelayedPush,
  RowsInput,
  TailInput,
  ThreadData,
  ThreadSettings,
} from './thread-contract.ts';

type Call = { readonly signal: AbortSignal };

const upkeepMs = 5_000;

/** The store and everything that asks it, as one thread. */
export async function openLogs(setup: ThreadSetup): Promise<ThreadService> {
  const { log, now } = setup;
  const data = setup.data as ThreadData;
  const store = await openLogStore({
    folder: data.folder,
    log,
    now,
    limits: data.limits,
    retention: data.retention,
  });
  const desk = new Desk(store, data.query, now);
  const tails = new Tails(now, (id) => setup.notify('tail', id));
  const silence = store.onKept((batch) => tails.offer(batch));
  setup.every(upkeepMs, () => store.tidy());
  // Whoever restarted this thread may have newer settings than it was started with.
  setup.notify('open', undefined);

  return {
    methods: {
      push: ({ format, body, encoding, stamp }: PushInput) => store.push(format, body, { encoding, stamp }),
      write: (rows: Parameters<LogIngest['write']>[0]) => store.write(rows),

      async endpoint({ name, parameters, label, enforce }: EndpointInput, { signal }: Call) {
        const call = { parameters, label, enforce: matchersOf(enforce), signal };
        return moved(await answer(name as EndpointName, { store, desk, now }, call));
      },

      lines: (input: AskInput, { signal }: Call): Promise<LinesAnswer> =>
        desk.ask({ ...input, signal }, async ({ source, budget, warnings }) => {
          const { query, limit, direction, start, end, enforce } = input;
          const asked = {
            query,
            start: nanos(start),
            end: nanos(end),
            enforce: matchersOf(enforce),
            now,
            ...(limit !== undefined && { limit }),
            ...(direction && { direction }),
          };
          const found = await lines(source, asked, budget);
          return { type: 'streams', lines: found.lines.map(lineOf), partial: found.partial, warnings };
        }),

      instant: (input: AskInput, { signal }: Call): Promise<InstantAnswer> =>
        desk.ask({ ...input, signal }, async ({ source, budget, warnings }) => {
          const { query, end: time, enforce } = input;
          const result = await instant(source, { query, time, enforce: matchersOf(enforce), now }, budget);
          if (result.type === 'scalar') {
            return { ...result, warnings };
          }
          const { samples } = result;
          return {
            type: 'vector',
            labels: samples.map(({ labels }) => labelsRecord(labels)),
            times: new Float64Array(samples.length).fill(time),
            values: Float64Array.from(samples, ({ value }) => value),
            warnings,
          };
        }),

      range: (input: AskInput, { signal }: Call): Promise<MatrixAnswer & Notes> =>
        desk.ask({ ...input, signal }, async ({ source, budget, warnings }) => {
          const { query, start, end, step = 0, enforce } = input;
          const { series } = await range(source, { query, start, end, step, enforce: matchersOf(enforce), now }, budget);
          return {
            type: 'matrix',
            labels: series.map(({ labels }) => labelsRecord(labels)),
            times: series.map(({ times }) => times),
            values: series.map(({ values }) => values),
            warnings,
          };
        }),

      names({ label, query, start, end, enforce }: NamesInput, { signal }: Call): Promise<string[]> {
        const matchers = query === undefined ? matchersOf(enforce) : tailer({ query, enforce: matchersOf(enforce), now }).matchers;
        const window = { start: nanos(start), end: nanos(end) };
        return desk.ask({ signal }, ({ budget }) =>
          label === undefined ? store.directory.labels(matchers, window, budget) : store.directory.values(label, matchers, window, budget),
        );
      },

      relay(input: PushInput | RowsInput): RelayedPush {
        const { batch, rejected, reasons } = 'rows' in input ? store.readRows(input.rows) : store.readPush(input.format, input.body, input);
        return { accepted: batch.count, rejected, reasons, body: batch.count === 0 ? undefined : pushBody(batch) };
      },
      enforced: ({ query, enforce }: { readonly query: string; readonly enforce: readonly Enforced[] }) => enforcedQuery(query, enforce),

      check: (query: string) => check(query),
      status: () => ({ ...store.status(), queries: { running: desk.gate.running, waiting: desk.gate.waiting, asked: desk.asked }, tails: tails.size }),
      flush: () => store.flush(),

      settle({ limits, retention, query }: ThreadSettings) {
        store.setLimits(limits, retention);
        desk.limits = query;
      },

      openTail: (input: TailInput, { signal }: Call): Promise<OpenedTail> =>
        desk.ask({ signal }, async ({ source, budget }) => {
          const { query, delayMs, limit, start } = input;
          const enforce = matchersOf(input.enforce);
          // Both in one go: the source settles what it will read before it waits for anything, and from then on the tail listens.
          const earlier = lines(source, { query, start: nanos(start), end: nanos(now()), limit, enforce, now }, budget);
          const id = tails.open({ query, delayMs, enforce });
          try {
            const found = await earlier;
            return { id, frame: found.lines.length === 0 ? undefined : frameOf(found.lines.toReversed(), []) };
          } catch (error) {
            tails.close(id);
            throw error;
          }
        }),
      takeTail: (id: number) => moved(tails.take(id)),
      closeTail: (id: number) => tails.close(id),
    },
    async close() {
      silence();
      await store.close();
    },
  };
}

const matchersOf = (enforce: readonly Enforced[] | undefined): Matcher[] => (enforce ?? []).map(({ name, op, value }) => matcher(name, op, value));

/** Milliseconds may have a fraction. */
const nanos = (ms: number): Nanos => ({ ms: Math.floor(ms), ns: Math.round((ms - Math.floor(ms)) * 1e6) % 1_000_000 });

const lineOf = ({ labels, ms, ns, line }: { readonly labels: Labels; readonly ms: number; readonly ns: number; readonly line: string }): Line => ({
  labels: labelsRecord(labels),
  at: { ms, ns },
  line,
});

const moved = (bytes: Uint8Array | undefined): Uint8Array | undefined => bytes && transferred(bytes, [bytes]);
