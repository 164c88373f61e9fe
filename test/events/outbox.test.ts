import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outbox } from 'svc/sdk';

import { Outboxes, type OutboxOptions } from '../../core/events/index.ts';
import type { Storage } from '../../core/storage/index.ts';
import {
  inFolder,
  type Notes,
  notesMigration,
  openIn,
  silent,
  withStorage,
} from '../storage/folder.ts';

const system = { now: () => Date.now(), monotonic: () => performance.now() };

function open(storage: Storage, options: Partial<OutboxOptions> = {}): Outboxes {
  return new Outboxes({
    tables: storage.core(),
    clock: system,
    ids: { uuid: () => randomUUID(), token: () => randomUUID() },
    log: silent,
    redact: (text) => text.replaceAll('CANARY', '[redacted]'),
    random: () => 0.5,
    pollMs: 30,
    graceMs: 500,
    ...options,
  });
}

/** The outbox of one generation that serves while `scope.serves`, and leaves by `scope.end()`. */
function account(outboxes: Outboxes, plugin = 'mail') {
  const undos: (() => unknown)[] = [];
  const scope = {
    serves: true,
    async end() {
      scope.serves = false;
      await Promise.all(undos.map((undo) => undo()));
    },
  };
  const outbox: Outbox = outboxes.forPlugin(
    plugin,
    (_label, undo) => {
      undos.push(undo);
      return undo;
    },
    (_label, work) => work(),
    () => scope.serves,
  );
  return { outbox, scope };
}

const send = (
  outbox: Outbox,
  topic: string,
  payload: unknown,
  options?: { key?: string; delayMs?: number },
) => outbox.enqueue(undefined as never, topic, payload, options);

const rowsOf = (storage: Storage) =>
  storage.core().read.selectFrom('core_outbox').selectAll().orderBy('enqueued_at').execute();

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 15_000; !(await what());) {
    assert.ok(Date.now() < deadline, `never happened: ${what.toString()}`);
    await sleep(10);
  }
}

test('a message is delivered once its transaction is committed, and its row is gone', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage, { pollMs: 60_000 });
    const { outbox } = account(outboxes);
    const heard: unknown[] = [];
    outbox.deliver('send', async (message) => void heard.push(message));
    await outboxes.start();
    const before = Date.now();
    const id = await send(outbox, 'send', { to: 'ada' });
    await until(async () => heard.length > 0 && (await rowsOf(storage)).length === 0);
    const [message] = heard as { enqueuedAt: number }[];
    assert.ok(message!.enqueuedAt >= before);
    assert.deepEqual(
      { ...message, enqueuedAt: 0 },
      { id, topic: 'mail/send', payload: { to: 'ada' }, attempt: 1, enqueuedAt: 0 },
    );
    await outboxes.stop();
  }));

test('a message lives and dies with the transaction of its change', () =>
  withStorage(async (storage) => {
    await storage.migrate('notes', [notesMigration]);
    const notes = storage.tables<Notes>('notes');
    const outboxes = open(storage);
    const { outbox } = account(outboxes, 'notes');
    const heard: unknown[] = [];
    outbox.deliver('noted', async ({ payload }) => void heard.push(payload));
    await outboxes.start();
    await assert.rejects(
      notes.write(async (tx) => {
        await tx.insertInto('notes_note').values({ id: 1, text: 'undone' }).execute();
        await outbox.enqueue(tx, 'noted', 'undone');
        throw new Error('changed my mind');
      }),
    );
    await notes.write(async (tx) => {
      await tx.insertInto('notes_note').values({ id: 2, text: 'kept' }).execute();
      await outbox.enqueue(tx, 'noted', 'kept');
      await sleep(100);
      assert.deepEqual(heard, [], 'nobody hears of a change that is not committed');
    });
    await until(() => heard.length > 0);
    await sleep(100);
    assert.deepEqual(heard, ['kept']);
    await outboxes.stop();
  }));

test('messages of one key keep their order through retries, others overtake', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    const heard: string[] = [];
    let refusals = 2;
    outbox.deliver<string>(
      'send',
      async ({ payload }) => {
        if (payload === 'a1' && refusals-- > 0) {
          throw new Error('busy');
        }
        heard.push(payload);
      },
      { backoffMs: 100 },
    );
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) {
      await send(outbox, 'send', name, { key: name[0]! });
    }
    await send(outbox, 'send', 'free');
    await outboxes.start();
    await until(() => heard.length === 6);
    assert.deepEqual(
      heard.filter((name) => name.startsWith('a')),
      ['a1', 'a2', 'a3'],
    );
    assert.deepEqual(
      heard.filter((name) => name.startsWith('b')),
      ['b1', 'b2'],
    );
    assert.ok(
      heard.indexOf('free') < heard.indexOf('a1') && heard.indexOf('b2') < heard.indexOf('a1'),
      heard.join(),
    );
    await outboxes.stop();
  }));

test('a burst of one key is delivered in the order of its commits', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    const heard: number[] = [];
    outbox.deliver<number>('send', async ({ payload }) => void heard.push(payload));
    await outboxes.start();
    await storage.core().write(async (tx) => {
      for (let n = 0; n < 30; n += 1) {
        await outbox.enqueue(tx, 'send', n, { key: 'k' });
      }
    });
    await until(() => heard.length === 30);
    assert.deepEqual(
      heard,
      Array.from({ length: 30 }, (_, n) => n),
    );
    await outboxes.stop();
  }));

test('no more tries run at the same time than allowed, and many messages share a commit', () =>
  withStorage(async (storage) => {
    let commits = 0;
    const tables = storage.core();
    const counted: typeof tables = {
      read: tables.read,
      write: (work) => {
        commits += 1;
        return tables.write(work);
      },
    };
    const outboxes = open(storage, { tables: counted, concurrency: 10 });
    const { outbox } = account(outboxes);
    let inside = 0;
    let most = 0;
    let done = 0;
    outbox.deliver('send', async () => {
      most = Math.max(most, (inside += 1));
      await sleep(5);
      inside -= 1;
      done += 1;
    });
    await tables.write(async (tx) => {
      for (let n = 0; n < 100; n += 1) {
        await outbox.enqueue(tx, 'send', n);
      }
    });
    commits = 0;
    await outboxes.start();
    await until(async () => done === 100 && (await rowsOf(storage)).length === 0);
    assert.equal(most, 10);
    assert.ok(commits < 100, `${commits} commits for 100 messages`);
    await outboxes.stop();
  }));

test('a message that fails every time is given up, its owner is told, the reason stays without secrets', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    const tries: number[] = [];
    const told: unknown[] = [];
    outbox.deliver(
      'send',
      async ({ attempt }) => {
        tries.push(attempt);
        throw new Error('cannot reach https://hook/CANARY');
      },
      {
        attempts: 3,
        backoffMs: 10,
        exhausted: async ({ payload, attempt }, cause) => void told.push([payload, attempt, cause]),
      },
    );
    await send(outbox, 'send', { to: 'ada' }, { key: 'k' });
    const next = await send(outbox, 'other', 1);
    await outboxes.start();
    await until(async () => (await rowsOf(storage)).some((row) => row.state === 'failed'));
    assert.deepEqual(tries, [1, 2, 3]);
    assert.deepEqual(told, [[{ to: 'ada' }, 3, 'cannot reach https://hook/[redacted]']]);
    const rows = await rowsOf(storage);
    assert.deepEqual(
      rows.map(({ state, attempt, last_error }) => [state, attempt, last_error]),
      [
        ['failed', 3, 'cannot reach https://hook/[redacted]'],
        ['waiting', 0, null],
      ],
    );
    assert.equal(rows[1]!.id, next, 'a topic that nobody handles waits');
    await outboxes.stop();
  }));

test('an owner that cannot take note of a failure does not stop the queue', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    outbox.deliver('send', () => Promise.reject(new Error('no')), {
      attempts: 1,
      exhausted: () => Promise.reject(new Error('neither')),
    });
    await send(outbox, 'send', 1);
    await outboxes.start();
    await until(async () => (await rowsOf(storage))[0]?.state === 'failed');
    await outboxes.stop();
  }));

test('the waits between tries grow with jitter and stay below five minutes', () =>
  withStorage(async (storage) => {
    let now = Date.now();
    const outboxes = open(storage, {
      clock: { now: () => now, monotonic: system.monotonic },
      random: () => 1,
    });
    const { outbox } = account(outboxes);
    const waits: number[] = [];
    let last = now;
    outbox.deliver(
      'send',
      async () => {
        waits.push(now - last);
        last = now;
        throw new Error('no');
      },
      { attempts: 12 },
    );
    await send(outbox, 'send', 1);
    await outboxes.start();
    await until(async () => {
      const [row] = await rowsOf(storage);
      if (row?.state === 'waiting') {
        now = row.due_at;
      }
      return row?.state === 'failed';
    });
    assert.deepEqual(
      waits,
      [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000),
    );
    await outboxes.stop();
  }));

test('a try that hangs ends at its deadline and is told to stop', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    const aborted: unknown[] = [];
    outbox.deliver(
      'send',
      (_message, signal) =>
        new Promise(() => signal.addEventListener('abort', () => aborted.push(1))),
      {
        timeoutMs: 50,
        attempts: 2,
        backoffMs: 10,
      },
    );
    await send(outbox, 'send', 1);
    await outboxes.start();
    await until(async () => (await rowsOf(storage))[0]?.state === 'failed');
    assert.equal(aborted.length, 2);
    assert.match(
      (await rowsOf(storage))[0]!.last_error!,
      /the handler of mail\/send did not finish within 50 ms/,
    );
    await outboxes.stop();
  }));

test('a message can be asked to wait', () =>
  withStorage(async (storage) => {
    let now = 1_000_000;
    const outboxes = open(storage, { clock: { now: () => now, monotonic: system.monotonic } });
    const { outbox } = account(outboxes);
    const heard: unknown[] = [];
    outbox.deliver('send', async ({ payload }) => void heard.push(payload));
    await outboxes.start();
    await send(outbox, 'send', 'later', { delayMs: 3_600_000 });
    await sleep(100);
    assert.deepEqual(heard, []);
    now += 3_600_000;
    await until(() => heard.length > 0);
    await outboxes.stop();
  }));

test('a clock that goes back delays no retry for ever and frees what was leased', () =>
  withStorage(async (storage) => {
    let now = 10_000_000;
    const outboxes = open(storage, { clock: { now: () => now, monotonic: system.monotonic } });
    const { outbox } = account(outboxes);
    const heard: string[] = [];
    outbox.deliver<string>('send', async ({ payload }) => void heard.push(payload));
    const row = { topic: 'mail/send', key: null, enqueued_at: now, last_error: null };
    await outboxes.start();
    await storage.core().write(async (tx) => {
      await tx
        .insertInto('core_outbox')
        .values({
          ...row,
          id: 'retry',
          payload: '"retry"',
          attempt: 1,
          due_at: now,
          lease_until: null,
          state: 'waiting',
        })
        .execute();
      await tx
        .insertInto('core_outbox')
        .values({
          ...row,
          id: 'leased',
          payload: '"leased"',
          attempt: 1,
          due_at: now,
          lease_until: now,
          state: 'leased',
        })
        .execute();
      now -= 7_200_000;
    });
    await until(() => heard.length === 2);
    assert.deepEqual(new Set(heard), new Set(['leased', 'retry']));
    await outboxes.stop();
  }));

test('while a plugin is reloaded only the generation that serves delivers, and an interrupted try does not count', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const [old, next] = [account(outboxes), account(outboxes)];
    next.scope.serves = false;
    const heard: string[] = [];
    old.outbox.deliver('send', (message, signal) => {
      heard.push(`old ${message.attempt}`);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('ending'))),
      );
    });
    next.outbox.deliver('send', async (message) => void heard.push(`new ${message.attempt}`));
    await outboxes.start();
    await send(old.outbox, 'send', 1);
    await until(() => heard.length === 1);
    next.scope.serves = true;
    await old.scope.end();
    await until(() => heard.length === 2);
    assert.deepEqual(heard, ['old 1', 'new 1']);
    await next.scope.end();
    await send(next.outbox, 'send', 2);
    await sleep(100);
    assert.equal(heard.length, 2, 'nobody delivers for a plugin that is gone');
    await outboxes.stop();
  }));

test('stopping waits for the tries that run, and takes no more', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage, { concurrency: 1 });
    const { outbox } = account(outboxes);
    const heard: unknown[] = [];
    let begun = false;
    outbox.deliver('send', async ({ payload }) => {
      begun = true;
      await sleep(100);
      heard.push(payload);
    });
    await send(outbox, 'send', 1);
    await send(outbox, 'send', 2);
    await outboxes.start();
    await until(() => begun);
    await outboxes.stop();
    assert.deepEqual(heard, [1]);
    assert.deepEqual(
      (await rowsOf(storage)).map((row) => [row.payload, row.state]),
      [['2', 'waiting']],
    );
  }));

test('stopping tells a try that takes too long to end, and its message is delivered by the next start', () =>
  withStorage(async (storage) => {
    const first = open(storage, { graceMs: 50 });
    const before = account(first);
    let begun = false;
    before.outbox.deliver('send', (_message, signal) => {
      begun = true;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('ending'))),
      );
    });
    await send(before.outbox, 'send', 1);
    await first.start();
    await until(() => begun);
    await first.stop();
    assert.deepEqual(
      (await rowsOf(storage)).map((row) => [row.state, row.attempt]),
      [['waiting', 0]],
    );
    const second = open(storage);
    const heard: number[] = [];
    account(second).outbox.deliver('send', async ({ attempt }) => void heard.push(attempt));
    await second.start();
    await until(() => heard.length > 0);
    assert.deepEqual(heard, [1]);
    await second.stop();
  }));

test('a disk that takes no writes for a while loses nothing and delivers nothing twice', () =>
  withStorage(async (storage) => {
    const tables = storage.core();
    let full = false;
    const guarded: typeof tables = {
      read: tables.read,
      write: (work) => (full ? Promise.reject(new Error('disk is full')) : tables.write(work)),
    };
    const complaints: string[] = [];
    const outboxes = open(storage, {
      tables: guarded,
      log: { ...silent, error: (_fields, message) => void complaints.push(message) },
    });
    const { outbox } = account(outboxes);
    const heard: unknown[] = [];
    outbox.deliver('send', async ({ payload }) => {
      heard.push(payload);
      full = true;
    });
    await send(outbox, 'send', 1);
    await outboxes.start();
    await until(() => complaints.length > 0);
    await sleep(150);
    full = false;
    await until(async () => (await rowsOf(storage)).length === 0);
    assert.deepEqual(heard, [1]);
    assert.equal(complaints.length, 1);
    await outboxes.stop();
  }));

test('a process that is killed in the middle of a try loses no message; what kills it each time is given up', () =>
  inFolder(async (dir) => {
    const child = fileURLToPath(new URL('outbox-child.ts', import.meta.url));
    const run = (...more: string[]) =>
      spawnSync(process.execPath, ['--import', 'tsx', child, dir, ...more], {
        encoding: 'utf8',
        timeout: 30_000,
      });
    const first = run('enqueue');
    assert.equal(first.signal, 'SIGKILL', first.stderr);
    assert.match(first.stdout, /acknowledged/);
    assert.equal(run().signal, 'SIGKILL');
    const storage = await openIn(dir);
    try {
      const deadly = (await rowsOf(storage)).find((row) => JSON.parse(row.payload).n === 2)!;
      assert.equal(deadly.attempt, 2);
      // The others were only in the same process.
      await storage
        .core()
        .write((tx) =>
          tx.updateTable('core_outbox').set({ attempt: 1 }).where('id', '!=', deadly.id).execute(),
        );
      const strict = open(storage);
      const heard: number[] = [];
      const given: unknown[] = [];
      account(strict).outbox.deliver<{ n: number }>(
        'send',
        async ({ payload }) => void heard.push(payload.n),
        {
          attempts: 2,
          exhausted: async ({ payload }, cause) => void given.push([payload.n, cause]),
        },
      );
      await strict.start();
      await until(
        async () =>
          heard.length === 2 && (await rowsOf(storage)).every((row) => row.state === 'failed'),
      );
      assert.deepEqual(new Set(heard), new Set([1, 3]));
      assert.deepEqual(given, [[2, 'the process ended during the last try']]);
      await strict.stop();
    } finally {
      await storage.close();
    }
  }));

test('a message that could not be stored or read is refused with a sentence', () =>
  withStorage(async (storage) => {
    const outboxes = open(storage);
    const { outbox } = account(outboxes);
    await assert.rejects(send(outbox, 'send', 1n), /a message of send cannot be written as JSON/);
    await assert.rejects(
      send(outbox, 'send', 'x'.repeat(1024 * 1024)),
      /has 1048578 bytes, 1048576 are allowed/,
    );
    await assert.rejects(send(outbox, 'x'.repeat(300), 1), /1 to 200 characters/);
    await assert.rejects(
      send(outbox, 'send', 1, { key: '' }),
      /a key of the outbox has 1 to 200 characters/,
    );
    assert.deepEqual(await rowsOf(storage), []);
  }));
