import { writeSync } from 'node:fs';

import { Outbound, parseAllowed } from '../../core/outbound/index.ts';
import { Addresses } from '../../plugins/notify/channels/address.ts';
import { Dispatcher } from '../../plugins/notify/queue/dispatcher.ts';
import { Knowledge } from '../../plugins/notify/message/knowledge.ts';
import { OutcomePublisher } from '../../plugins/notify/queue/outcome-publisher.ts';
import { Sender } from '../../plugins/notify/queue/sender.ts';
import { DeliveryQueue } from '../../plugins/notify/store/delivery-queue.ts';
import type { NotifyTables } from '../../plugins/notify/store/tables.ts';
import { noticeOf, shipped as types } from '../plugins/notify/office.ts';
import { steppedJobs } from '../plugins/lib/jobs/stepped-jobs.ts';
import { openIn } from '../storage/folder.ts';
import { fastClock, type LedgerTables, prepare } from './notify-crash-model.ts';

const [folder, origin, first, mode] = process.argv.slice(2) as [
  string,
  string,
  string,
  'storm' | 'drain',
];
const clock = fastClock(Number(origin));
const storage = await openIn(folder);
await prepare(storage);
const tables = storage.tables<NotifyTables>('notify');
const ledger = storage.tables<LedgerTables>('ledger');
const allowed = parseAllowed(['127.0.0.0/8']);
const outbound = new Outbound(() => allowed);
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (_fields: unknown, message: string) => void writeSync(2, `${message}\n`),
};
const ids = { uuid: () => crypto.randomUUID() };
const settings = { get: <T>() => '' as T };
const source = {
  available: true,
  get: () => ({
    pinning: async () => [],
    burning: async () => [],
    background: async () => undefined,
    instances: async () => ({ items: [], total: 0 }),
    audible: async () => [],
    async record(
      outcomes: readonly {
        delivery_id: string;
        notice_id: string;
        channel_id: number;
        result: string;
      }[],
    ) {
      await ledger.write((tx) =>
        tx
          .insertInto('ledger_outcomes')
          .values(
            outcomes.map(
              ({ delivery_id: delivery, notice_id: notice, channel_id: channel, result }) => ({
                delivery,
                notice,
                channel,
                result,
              }),
            ),
          )
          .onConflict((conflict) => conflict.columns(['delivery', 'result']).doNothing())
          .execute(),
      );
    },
  }),
  onChange: () => () => undefined,
};
const devices = { ...source, available: false } as never;
const knowledge = new Knowledge({ source, devices, findings: devices, clock, log });
const { jobs, run } = steppedJobs<NotifyTables>('notify', {
  tables,
  clock,
  log,
  process: `${process.pid}-${performance.timeOrigin}`,
});
const queue = new DeliveryQueue(jobs);
new Sender({
  tables,
  jobs,
  queue,
  types,
  clock,
  log,
  addresses: new Addresses(storage.secrets('notify'), settings),
  linkOf: () => 'https://svc.example/',
  knowledge,
  fetch: (url, request) => outbound.fetch(url, { ...request, timeoutMs: 300 }),
  uuid: ids.uuid,
  random: Math.random,
});
const publisher = new OutcomePublisher({ tables, source, clock, log, announce: () => undefined });
const dispatcher = new Dispatcher({ tables, queue, clock, ids, types });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function accept(...[incident, kind, more]: Parameters<typeof noticeOf>): Promise<void> {
  const notice = noticeOf(incident, kind, more);
  await dispatcher.accept(notice);
  writeSync(1, `${notice.id} ${incident}\n`);
}

/**
 * Raises one incident after the other, sometimes many at once, reporting accepted ones to the
 * parent.
 */
async function storm(): Promise<never> {
  for (let incident = Number(first); ;) {
    const many = Math.random() < 0.1 ? 12 : 1;
    const batch = Array.from({ length: many }, () => incident++);
    await Promise.all(batch.map((id) => accept(id)));
    await pause(Math.random() * 60);
    await Promise.all(batch.filter(() => Math.random() < 0.3).map((id) => accept(id, 'reminder')));
    await pause(Math.random() * 20);
    await Promise.all(batch.map((id) => accept(id, 'resolved')));
    await pause(Math.random() * 20);
  }
}

const stop = new AbortController();
const sending = run(stop.signal);

if (mode === 'storm') {
  const publishing = (async (): Promise<never> => {
    for (;;) {
      await publisher.publish();
      await pause(5);
    }
  })();
  await Promise.all([storm(), publishing, sending]);
} else {
  for (;;) {
    await publisher.publish();
    await pause(5);
    const left = await tables.read
      .selectFrom('notify_deliveries')
      .select('seq')
      .where((eb) => eb.or([eb('finished_at', 'is', null), eb('recorded', '=', 0)]))
      .limit(1)
      .executeTakeFirst();
    if (left === undefined) {
      break;
    }
  }
  stop.abort();
  await sending;
  outbound.close();
  await storage.close();
}
