import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { SvcError, type Tables } from 'svc/sdk';

import { EventLog } from '../../../plugins/chat/run/event-log.ts';
import { replay } from '../../../plugins/chat/journal/journal.ts';
import type { RunPorts, Work } from '../../../plugins/chat/run/ports.ts';
import { LostRun, RunStore } from '../../../plugins/chat/run/run-store.ts';
import { RunWorker } from '../../../plugins/chat/run/worker.ts';
import type { ChatTables } from '../../../plugins/chat/session/store.ts';

const clock = { now: () => 1_000, monotonic: () => 1_000 };
const refused = (reason: 'storage.wait_too_long' | 'storage.queue_full' | 'storage.closing') =>
  new SvcError('unavailable', 'not now', { reason });

/** A worker whose storage refuses as the test says. */
function worker(refusals: Error[]) {
  const stop = new AbortController();
  const [written, pauses] = [[] as unknown[], [] as number[]];
  const runs = {
    append: async (...said: unknown[]) => {
      const refusal = refusals.shift();
      if (refusal !== undefined) {
        throw refusal;
      }
      written.push(said[2]);
    },
    update: async () => undefined,
  };
  const ports = {
    runs,
    clock,
    pause: async (ms: number) => void pauses.push(ms),
  } as unknown as RunPorts;
  const work = {
    row: { id: 'r', epoch: 1 },
    events: new EventLog(clock, [], 0),
    signal: stop.signal,
  } as unknown as Work;
  return {
    worker: new RunWorker(
      ports,
      work,
      replay([{ kind: 'asked', content: 'Hello', agent: undefined, context: {} }]),
      1,
    ),
    written,
    pauses,
    stop,
  };
}

test('a write that did not come to its turn is asked for again, and the run goes on', async () => {
  const {
    worker: busy,
    written,
    pauses,
  } = worker([refused('storage.wait_too_long'), refused('storage.queue_full')]);
  await busy.append([{ kind: 'ended', finish: 'stop', error: undefined }]);
  assert.deepEqual([written.length, pauses.length], [1, 2]);
});

test('it is not asked for again where the storage closes, where the run is stopped, or for ever', async () => {
  const closing = worker([refused('storage.closing')]);
  await assert.rejects(closing.worker.append([]), { reason: 'storage.closing' });
  const stopped = worker([refused('storage.queue_full')]);
  stopped.stop.abort();
  await assert.rejects(stopped.worker.append([]), { reason: 'storage.queue_full' });
  const endless = worker(Array.from({ length: 100 }, () => refused('storage.queue_full')));
  await assert.rejects(endless.worker.append([]), { reason: 'storage.queue_full' });
  assert.ok(endless.pauses.length < 100);
});

test('a run that is not worked on any more is not held on because others of its worker are', async (t) => {
  const database = new Database(':memory:');
  t.after(() => database.close());
  for (const file of ['001-chat.sql', '002-sub-agents.sql', '003-add-epoch.sql']) {
    database.exec(
      readFileSync(new URL(`../../../plugins/chat/migrations/${file}`, import.meta.url), 'utf8'),
    );
  }
  database.pragma('foreign_keys = off');
  const db = new Kysely<ChatTables>({ dialect: new SqliteDialect({ database }) });
  const store = new RunStore({
    read: db,
    write: (work: (tx: typeof db) => Promise<unknown>) => work(db),
  } as unknown as Tables<ChatTables>);
  const rest = {
    owner: 'user:1',
    principal: '{}',
    origin: 'chat',
    agent: null,
    state: 'running',
    finish_reason: null,
    parent: null,
  } as const;
  for (const id of ['worked on', 'left']) {
    const row = {
      ...rest,
      id,
      session_id: id,
      holder: null,
      held_until: 0,
      reserved_seq: 0,
      created_at: 1,
      ended_at: null,
    };
    await store.insert(row, { kind: 'asked', content: 'Hello', agent: undefined, context: {} });
    assert.ok(await store.take(id, 'me', 15_000, 1_000, () => false));
  }
  await store.keep('me', ['worked on'], 30_000);
  const take = async (id: string): Promise<number | undefined> =>
    (await store.take(id, 'me', 35_000, 20_000, () => false))?.epoch;
  assert.deepEqual([await take('worked on'), await take('left')], [undefined, 2]);
  // Who had it before writes nothing any more, under whatever name.
  const before = { id: 'left', epoch: 1 };
  const nothing = { from: 2, entries: [], events: [] };
  await assert.rejects(store.append(before, 21_000, nothing), LostRun);
  await store.change(before, { holder: null });
  assert.equal((await store.find('left'))?.holder, 'me');
  await store.append({ id: 'left', epoch: 2 }, 21_000, nothing);
});
