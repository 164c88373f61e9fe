import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Client } from 'pg';

import { NodeRows } from '../../bin/serve/nodes/rows.ts';
import type { Storage } from '../../core/storage/index.ts';
import { findPeer, peer } from '../peers.ts';
import { inFolder, type Notes, notesMigration, openIn } from '../storage/folder.ts';
import { NodeStand, until } from './stand.ts';

let stand: NodeStand;
const isThere = findPeer('psql') !== undefined;

before(async () => {
  if (isThere) {
    stand = await NodeStand.open();
  }
});
after(async () => {
  if (isThere) {
    await stand.close();
  }
});

const nodeIds = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
const rowsOf = (url: string, at: number): NodeRows =>
  new NodeRows(url, { id: nodeIds[at]!, url: '', wire: '', pin: '', version: '1.0.0' });

const add = (storage: Storage, text: string): Promise<unknown> =>
  storage.tables<Notes>('notes').write((tx) =>
    tx
      .insertInto('notes_note')
      .values({ text } as never)
      .execute(),
  );

test('the database refuses writes and migrations of an owner that was replaced, whatever it believes', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const url = await stand.database();
  const [first, second] = [rowsOf(url, 0), rowsOf(url, 1)];
  await Promise.all([first.prepare(), second.prepare()]);
  assert.equal(await first.take(0, 60_000), 1);
  assert.equal(await second.take(1, 60_000), undefined, 'the lease has not ended');
  await inFolder(async (dir) => {
    const storage = await openIn(dir, {
      databaseUrl: url,
      tenure: { node: nodeIds[0]!, epoch: 1 },
    });
    const observer = new Client(url);
    await observer.connect();
    try {
      await storage.migrate('notes', [notesMigration]);
      await add(storage, 'in its epoch');
      await first.release(1);
      await add(storage, 'nobody else has it yet');

      // A successor waits for a group that has begun; a renewal does not.
      await first.renew(1, 60_000);
      let isTaken = false;
      let taking: Promise<unknown> = Promise.resolve();
      await storage.tables<Notes>('notes').write(async (tx) => {
        await tx
          .insertInto('notes_note')
          .values({ text: 'begun before' } as never)
          .execute();
        assert.equal(await first.renew(1, 0), true);
        taking = second.take(1, 60_000).then((epoch) => {
          isTaken = true;
          return epoch;
        });
        await until(async () => {
          const { rows } = await observer.query(
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%core_owner%'",
          );
          return rows.length > 0;
        });
        assert.equal(isTaken, false);
      });
      assert.equal(await taking, 2);
      await assert.rejects(add(storage, 'too late'), (error: Error & { reason?: string }) => {
        assert.match(error.message, /may not write any more.*since epoch 2/);
        assert.equal(error.reason, 'storage.not_owner');
        return true;
      });
      await assert.rejects(
        storage.migrate('late', [
          { name: '001-init.sql', sql: 'CREATE TABLE late_one (id INTEGER PRIMARY KEY) STRICT' },
        ]),
        /may not write any more/,
      );
      const found = await observer.query('select text from svc.notes_note order by id');
      assert.deepEqual(
        found.rows.map(({ text }: { text: string }) => text),
        ['in its epoch', 'nobody else has it yet', 'begun before'],
      );
      assert.equal(await first.renew(1, 60_000), false);
    } finally {
      await observer.end();
      await storage.close();
      await Promise.all([first.close(), second.close()]);
    }
  });
});
