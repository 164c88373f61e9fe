import type { SampleRow } from 'svc/contracts/metricsdb';
import { DeviceNameTable, type NamesById, QueryRunner } from 'svc/query';
import { type CareRequest, endingIfDamaged } from 'svc/store';
import { type ThreadService, type ThreadSetup, transferred } from 'svc/thread';

import { Forwarder } from './forward/forwarder.ts';
import { answer, format } from './prometheus/endpoints.ts';
import { countDropped, selectionAsked } from './prometheus/deletion.ts';
import { enforced } from './prometheus/series-selector.ts';
import { batchAnswers, checkQuery, serviceAnswer } from './service/answers.ts';
import { Scratches } from './service/scratches.ts';
import { StoreLifecycle } from './store/lifecycle.ts';
import type {
  Asked,
  BatchQuestion,
  DropAsked,
  EndInput,
  PushInput,
  ServiceQuestion,
  ThreadData,
  ThreadSettings,
  ThreadStats,
} from './thread/contract.ts';

const maintainMs = 30_000;

type Signal = { readonly signal: AbortSignal };

/** The thread of this plugin: the store, the engine, and what another driver needs computed. */
export async function openMetrics(setup: ThreadSetup): Promise<ThreadService> {
  const { folder, ...settings } = setup.data as ThreadData;
  const { now, log } = setup;
  const store = new StoreLifecycle({ folder, now, log });
  const runner = new QueryRunner(settings.query);
  const names = new DeviceNameTable();
  const forwarder = new Forwarder({ runner, names }, settings.push, now);
  const scratches = new Scratches(runner, now);
  setup.every(maintainMs, () => scratches.forget());
  await store.apply(settings.store);
  setup.every(
    maintainMs,
    endingIfDamaged(async () => store.isWanted && (await store.use((open) => open.maintain()))),
  );
  setup.notify('open', undefined);

  return {
    methods: {
      async settle({ anew = false, ...changed }: ThreadSettings & { readonly anew?: boolean }) {
        runner.limits = changed.query;
        forwarder.settle(changed.push);
        await store.apply(changed.store, anew);
      },
      async ask(asked: Asked, { signal }: Signal) {
        const bytes = await answer({ store, runner, now, names }, asked, signal);
        return transferred(bytes, [bytes]);
      },
      service: (question: ServiceQuestion, { signal }: Signal) =>
        serviceAnswer({ store, runner, names }, question, signal),
      instants: (question: BatchQuestion, { signal }: Signal) =>
        batchAnswers({ store, runner, names }, question, signal),
      deviceNames: (known: NamesById) => names.set(known),
      check: (query: string) => checkQuery(query),
      format: (asked: Asked) => format(asked),
      push: ({ format: kind, body, encoding, stamp, sender }: PushInput) =>
        store.use((open) =>
          open.push(kind, body, {
            ...(encoding !== undefined && { encoding }),
            ...(stamp !== undefined && { stamp }),
            ...(sender !== undefined && { sender }),
          }),
        ),
      write: (rows: readonly SampleRow[]) => store.use((open) => open.write(rows)),
      end: ({ matchers, time }: EndInput) =>
        store.use((open) => open.end(enforced(matchers), time)),
      async stats(): Promise<ThreadStats> {
        return {
          ...runner.load,
          store: store.isWanted
            ? await store.use((open) => ({ ...open.stats(), damage: open.damage() }))
            : undefined,
        };
      },
      cardinality: (limit: number) => store.use((open) => open.cardinality(limit)),
      dropCount: (asked: DropAsked, { signal }: Signal) =>
        countDropped({ store, runner }, asked, signal),
      drop: ({ asked, asker }: { readonly asked: DropAsked; readonly asker: string }) => {
        const selection = selectionAsked(asked);
        return store.use((open) => open.drop(selection, asker));
      },
      drops: () => (store.isWanted ? store.use((open) => open.drops()) : []),
      care: (request: CareRequest) => store.use((open) => open.care(request)),
      ...forwarder.methods(),
      ...scratches.methods(),
    },
    close: () => store.apply(undefined),
  };
}
