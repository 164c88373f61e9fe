import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import Database from 'better-sqlite3';
import type { RawBuilder } from 'kysely';

import {
  isQueued,
  isUnfinished,
  isUnsentTo,
} from '../../../plugins/notify/store/delivery-conditions.ts';
import { openOffice } from './office.ts';
import { onlySqlite } from '../../kit/database.ts';

const indexed: readonly (readonly [
  condition: RawBuilder<boolean>,
  index: string,
  order: 'channel_id' | 'seq',
])[] = [
  [isUnfinished, 'notify_deliveries_open', 'channel_id'],
  [isQueued, 'notify_deliveries_open', 'channel_id'],
  [isUnsentTo('recorded'), 'notify_deliveries_unrecorded', 'seq'],
  [isUnsentTo('announced'), 'notify_deliveries_unannounced', 'seq'],
];

test(
  'each condition of the queue is read from its partial index, not from the whole table',
  onlySqlite,
  async (t) => {
    const { tables, dataDir } = await openOffice(t);
    const database = new Database(join(dataDir, 'svc.db'), { readonly: true });
    t.after(() => database.close());
    for (const [condition, index, order] of indexed) {
      const query = tables.read
        .selectFrom('notify_deliveries')
        .select('seq')
        .where(condition)
        .orderBy(order)
        .limit(1)
        .compile();
      const plan = database.prepare(`explain query plan ${query.sql}`).all(...query.parameters) as {
        readonly detail: string;
      }[];
      assert.match(
        plan.map(({ detail }) => detail).join('\n'),
        new RegExp(`USING (COVERING )?INDEX ${index}\\b`),
      );
    }
  },
);
