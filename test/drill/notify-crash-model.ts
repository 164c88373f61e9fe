import type { Storage } from '../../core/storage/index.ts';
import type { Clock } from '../../core/sdk/index.ts';
import { migrations } from '../plugins/notify/office.ts';

export interface LedgerTables {
  ledger_outcomes: { delivery: string; notice: string; channel: number; result: string };
}

/** A minute of waiting takes a second, in every process alike. */
const speed = 60;

export const fastClock = (origin: number): Clock => ({
  now: () => Math.round(origin + (Date.now() - origin) * speed),
  monotonic: () => performance.now() * speed,
});

/** Creates the tables of the plugin, and those of the consumer of its outcomes. */
export async function prepare(storage: Storage): Promise<void> {
  await storage.migrate('notify', migrations);
  await storage.declareSealed('notify', [
    { table: 'notify_channels', row: 'ref', columns: ['endpoint', 'secret'] },
    { table: 'notify_page_keys', row: 'ref', columns: ['key'] },
  ]);
  await storage.migrate('ledger', [
    {
      name: '001-init.sql',
      sql: 'create table ledger_outcomes (delivery text not null, notice text not null, channel integer not null, result text not null, primary key (delivery, result)) strict',
    },
  ]);
}
