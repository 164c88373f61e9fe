import type { Line, LogIngest } from 'svc/contracts/logs';
import type { Enforced } from 'svc/contracts/metricsdb';
import { DeviceNameTable, type NamesById } from 'svc/query';
import { type CareRequest, endingIfDamaged } from 'svc/store';
import { type ThreadService, type ThreadSetup, transferred } from 'svc/thread';

import { check } from './logql/index.ts';
import { answer, type EndpointName } from './loki/endpoints.ts';
import { type AnswerBody, readAnswer } from './drivers/remote-answers.ts';
import { enforcedQuery, pushBody } from './loki/relay.ts';
import { matchersOf, ServiceQueries, templatesOf } from './service/queries.ts';
import { openLogStore } from './store/store.ts';
import { Tails } from './tail/tails.ts';
import type {
  AskInput,
  EndpointInput,
  NamesInput,
  PushInput,
  RelayedPush,
  RowsInput,
  TailInput,
  ThreadData,
  ThreadSettings,
} from './thread/contract.ts';
import { LogQueryRunner } from './thread/query-runner.ts';

interface Call {
  readonly signal: AbortSignal;
}

const upkeepMs = 5_000;

/** The thread of this plugin: the store, the engine, and live tails. */
export async function openLogs(setup: ThreadSetup): Promise<ThreadService> {
  const { log, now } = setup;
  const { folder, limits, retention, query } = setup.data as ThreadData;
  const store = await openLogStore({ folder, log, now, limits, retention });
  const names = new DeviceNameTable();
  const queries = new LogQueryRunner(store, query, { now, names });
  const tails = new Tails(now, (id) => setup.notify('tail', id), names);
  const service = new ServiceQueries({ store, queries, tails, now, deviceNames: names });
  const stopTailing = store.onKept((batch) => tails.offer(batch));
  setup.every(
    upkeepMs,
    endingIfDamaged(() => store.tidy()),
  );
  // A restarted thread gets the data of its first start: the plugin sends newer settings on this
  // notice.
  setup.notify('open', undefined);

  return {
    methods: {
      push: ({ format, body, encoding, stamp, sender }: PushInput) =>
        store.push(format, body, { encoding, stamp, sender }),
      write: (rows: Parameters<LogIngest['write']>[0]) => store.write(rows),

      async endpoint(
        { name, parameters, label, categorized, asker, enforce }: EndpointInput,
        { signal }: Call,
      ) {
        const call = {
          parameters,
          label,
          categorized,
          asker,
          enforce: matchersOf(enforce),
          signal,
        };
        return moved(await answer(name as EndpointName, { store, queries, now, names }, call));
      },
      lines: (input: AskInput, call: Call) => service.lines(input, call),
      instant: (input: AskInput, call: Call) => service.instant(input, call),
      range: (input: AskInput, call: Call) => service.range(input, call),
      patterns: (input: AskInput, call: Call) => service.patterns(input, call),
      templates: ({ lines, step }: { readonly lines: readonly Line[]; readonly step?: number }) =>
        templatesOf(lines, step),
      names: (input: NamesInput, call: Call) => service.names(input, call),
      deviceNames: (known: NamesById) => names.set(known),
      check: (query: string) => check(query),

      relay(input: PushInput | RowsInput): RelayedPush {
        const { batch, rejected, reasons } =
          'rows' in input
            ? store.readRows(input.rows)
            : store.readPush(input.format, input.body, input);
        return {
          accepted: batch.count,
          rejected,
          reasons,
          body: batch.count === 0 ? undefined : pushBody(batch),
        };
      },
      enforced: ({
        query,
        enforce,
      }: {
        readonly query: string;
        readonly enforce: readonly Enforced[];
      }) => enforcedQuery(query, enforce),

      readAnswer: ({ kind, body }: AnswerBody) => readAnswer(kind, body),

      openTail: (input: TailInput, call: Call) => service.openTail(input, call),
      takeTail: (id: number) => moved(tails.take(id)),
      closeTail: (id: number) => tails.close(id),

      status: () => ({ ...store.status(), queries: queries.load, tails: tails.size }),
      flush: () => store.flush(),
      care: (request: CareRequest) => store.care(request),
      settle(settings: ThreadSettings) {
        store.setLimits(settings.limits, settings.retention);
        queries.limits = settings.query;
      },
    },
    async close() {
      stopTailing();
      await store.close();
    },
  };
}

/** Bytes that were made for the answer alone move to the caller. */
const moved = (bytes: Uint8Array | undefined): Uint8Array | undefined =>
  bytes && transferred(bytes, [bytes]);
