import assert from 'node:assert/strict';
import { test } from 'node:test';

import { earlierOutbox, type Storage } from '../../core/storage/index.ts';
import { type Notes, notesMigration, withStorage } from './folder.ts';

const left = (id: string, topic: string, state: string, enqueuedAt = 1) => ({
  id,
  topic,
  key: null,
  payload: JSON.stringify({ id }),
  enqueued_at: enqueuedAt,
  attempt: 0,
  due_at: 1,
  lease_until: null,
  state,
  last_error: null,
});

async function withLeft(work: (storage: Storage) => Promise<void>): Promise<void> {
  await withStorage(async (storage) => {
    await storage.migrate('notes', [notesMigration]);
    await storage.core().write((tx) =>
      tx
        .insertInto('core_outbox')
        .values([
          left('b', 'notes/letter', 'waiting'),
          left('a', 'notes/letter', 'leased', 2),
          left('c', 'notes/letter', 'done'),
          left('d', 'other/letter', 'waiting'),
        ])
        .execute(),
    );
    await work(storage);
  });
}

test('what an earlier version left is handed over once, in its order', () =>
  withLeft(async (storage) => {
    const outbox = earlierOutbox(storage.core());
    assert.deepEqual(
      [await outbox.holds('notes/letter'), await outbox.holds('notes/none')],
      [true, false],
    );
    const taken = await outbox.take('notes/letter');
    assert.deepEqual(
      taken.map(({ id, payload }) => [id, payload]),
      [
        ['b', { id: 'b' }],
        ['a', { id: 'a' }],
      ],
    );
    assert.deepEqual(await outbox.take('notes/letter'), []);
    assert.equal(await outbox.holds('notes/letter'), false);
    assert.equal(await outbox.holds('other/letter'), true);
  }));

test('it stays where it is when the write that takes it fails', () =>
  withLeft(async (storage) => {
    const outbox = earlierOutbox(storage.core());
    const write = storage.tables<Notes>('notes').write(async () => {
      await outbox.take('notes/letter');
      throw new Error('the plugin could not keep it');
    });
    await assert.rejects(write, /could not keep it/);
    assert.equal((await outbox.take('notes/letter')).length, 2);
  }));
