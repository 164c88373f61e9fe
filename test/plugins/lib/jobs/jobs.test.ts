import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { GiveUp, type Job, jobTable, LeaseLost, TryLater } from 'svc/jobs';

import type { Storage } from '../../../../core/storage/index.ts';
import { silent, withStorage } from '../../../storage/folder.ts';
import {
  type Mill,
  type MillJobs,
  type MillOptions,
  type MillTables,
  openMill,
  until,
} from './mill.ts';

const add = (
  { jobs, tables }: Mill,
  queue: string,
  ...all: Parameters<MillJobs['add']>[2]
): Promise<ReadonlySet<string>> => tables.write((tx) => jobs.add(tx, queue, all));

const all = ({ jobs }: Mill) => jobs.page({}, undefined, 100);

const inMill = (
  work: (mill: Mill, again: (options?: MillOptions) => Promise<Mill>) => Promise<void>,
  options: MillOptions = {},
): Promise<void> =>
  withStorage(async (storage: Storage) => {
    const open: Mill[] = [];
    const again = async (more: MillOptions = {}): Promise<Mill> => {
      const mill = await openMill(storage, { ...options, ...more });
      open.push(mill);
      return mill;
    };
    try {
      await work(await again(), again);
    } finally {
      await Promise.all(open.map((mill) => mill.leave()));
    }
  });

const flour = async ({ tables }: Mill): Promise<string[]> =>
  (await tables.read.selectFrom('mill_flour').select('note').execute()).map(({ note }) => note);

const grind =
  (note: string) =>
  (tx: Parameters<MillJobs['add']>[0]): Promise<unknown> =>
    tx.insertInto('mill_flour').values({ job: 'any', note }).execute();

test('a job is done once its transaction is committed, and its row is gone', () =>
  inMill(async (mill) => {
    const heard: unknown[] = [];
    mill.jobs.queue<{ to: string }>('send', {
      work: async ({ payload, attempt, id }) => void heard.push([payload, attempt, id]),
    });
    mill.start();
    const [id] = await add(mill, 'send', { payload: { to: 'ada' } });
    await until(async () => heard.length > 0 && (await all(mill)).length === 0);
    assert.deepEqual(heard, [[{ to: 'ada' }, 1, id]]);
    await until(() => mill.ended.length === 1);
    assert.deepEqual(mill.ended, [{ queue: 'send', state: 'done' }]);
  }));

test('a job lives and dies with the transaction of its change', () =>
  inMill(async (mill) => {
    const heard: unknown[] = [];
    mill.jobs.queue('send', { work: async ({ payload }) => void heard.push(payload) });
    mill.start();
    await assert.rejects(
      mill.tables.write(async (tx) => {
        await mill.jobs.add(tx, 'send', [{ payload: 'undone' }]);
        throw new Error('changed my mind');
      }),
    );
    await mill.tables.write(async (tx) => {
      await mill.jobs.add(tx, 'send', [{ payload: 'kept' }]);
      await sleep(100);
      assert.deepEqual(heard, [], 'nobody hears of a change that is not committed');
    });
    await until(() => heard.length > 0);
    await sleep(50);
    assert.deepEqual(heard, ['kept']);
  }));

test('what a try returns is written in the commit that ends it, or not at all', () =>
  inMill(async (mill) => {
    let fails = true;
    mill.jobs.queue('grind', {
      backoffMs: 10,
      work: async ({ attempt }) => ({
        write: async (tx) => {
          await grind(`try ${attempt}`)(tx);
          if (fails) {
            fails = false;
            throw new Error('the mill stands still');
          }
        },
      }),
    });
    mill.start();
    await add(mill, 'grind', { payload: 1 });
    await until(async () => (await all(mill)).length === 0);
    assert.deepEqual(await flour(mill), ['try 1'], 'written again, once');
  }));

test('an end that storage refuses every time holds up no other job, and is tried anew as one that failed', () =>
  inMill(async (mill) => {
    const tries: number[] = [];
    mill.jobs.queue('refused', {
      tries: 2,
      backoffMs: 10,
      work: async ({ attempt }) => ({
        write: async (tx) => {
          tries.push(attempt);
          await grind('never kept')(tx);
          throw new Error('FOREIGN KEY constraint failed');
        },
      }),
      onFailed: (tx, { cause }) => grind(cause)(tx) as Promise<void>,
    });
    mill.jobs.queue<string>('grind', { work: async ({ payload }) => ({ write: grind(payload) }) });
    mill.start();
    await add(mill, 'refused', { payload: 1 });
    await until(() => tries.length > 0);
    await add(mill, 'grind', { payload: 'another' });
    await until(async () => (await flour(mill)).length === 2);
    assert.deepEqual((await flour(mill)).toSorted(), ['FOREIGN KEY constraint failed', 'another']);
    assert.deepEqual(
      tries,
      [1, 1, 2, 2],
      'each end is written a second time before it is given up',
    );
  }));

test('jobs of a lane keep their order through retries, others overtake, and a lane runs one at a time', () =>
  inMill(async (mill) => {
    const heard: string[] = [];
    let [refusals, inA, most] = [2, 0, 0];
    mill.jobs.queue<string>('send', {
      backoffMs: 60,
      work: async ({ payload }) => {
        if (payload.startsWith('a')) {
          most = Math.max(most, (inA += 1));
          await sleep(5);
          inA -= 1;
        }
        if (payload === 'a1' && refusals-- > 0) {
          throw new Error('busy');
        }
        heard.push(payload);
      },
    });
    await add(
      mill,
      'send',
      ...['a1', 'a2', 'a3', 'b1', 'b2'].map((payload) => ({ payload, lane: payload[0]! })),
      { payload: 'free' },
    );
    mill.start();
    await until(() => heard.length === 6);
    const of = (lane: string): string[] => heard.filter((name) => name.startsWith(lane));
    assert.deepEqual(
      [of('a'), of('b')],
      [
        ['a1', 'a2', 'a3'],
        ['b1', 'b2'],
      ],
    );
    assert.ok(heard.indexOf('b2') < heard.indexOf('a1'), heard.join());
    assert.equal(most, 1);
  }));

test('a key stands for one job; asked for again while it runs, it is done once more', () =>
  inMill(async (mill) => {
    const runs: number[] = [];
    let go = (): void => undefined;
    mill.jobs.queue<number>('sync', {
      work: ({ payload }) => {
        runs.push(payload);
        return new Promise<void>((resolve) => (go = resolve));
      },
    });
    assert.equal((await add(mill, 'sync', { payload: 1, key: 'repo' })).size, 1);
    assert.equal((await add(mill, 'sync', { payload: 2, key: 'repo' })).size, 0);
    mill.start();
    await until(() => runs.length === 1);
    await add(mill, 'sync', { payload: 3, key: 'repo', again: true });
    go();
    await until(() => runs.length === 2);
    go();
    await until(async () => (await all(mill)).length === 0);
    assert.deepEqual(runs, [1, 1]);
    assert.equal((await add(mill, 'sync', { payload: 4, key: 'repo' })).size, 1, 'free again');
    await until(() => runs.length === 3);
    go();
  }));

test('a kept key is taken until its job is removed', () =>
  inMill(async (mill) => {
    mill.jobs.queue('take', { keys: 'until-removed', keepMs: 60_000, work: async () => undefined });
    mill.start();
    await add(mill, 'take', { payload: 1, key: 'event-1' });
    await until(async () => (await all(mill))[0]?.state === 'done');
    assert.equal((await add(mill, 'take', { payload: 1, key: 'event-1' })).size, 0);
  }));

test('no more jobs run side by side than the queue says, and what waits is bounded', () =>
  inMill(async (mill) => {
    let [inside, most, done] = [0, 0, 0];
    mill.jobs.queue('send', {
      atOnce: 10,
      maxWaiting: 100,
      work: async () => {
        most = Math.max(most, (inside += 1));
        await sleep(2);
        inside -= 1;
        done += 1;
      },
    });
    await add(mill, 'send', ...Array.from({ length: 100 }, (_, payload) => ({ payload })));
    await assert.rejects(add(mill, 'send', { payload: 101 }), /100 jobs of send wait already/);
    mill.start();
    await until(() => done === 100);
    assert.equal(most, 10);
  }));

test('a job that fails every time is given up, and its owner is told in the same commit', () =>
  inMill(async (mill) => {
    const tries: number[] = [];
    mill.jobs.queue<{ to: string }>('send', {
      tries: 3,
      backoffMs: 5,
      work: async ({ attempt }) => {
        tries.push(attempt);
        throw new Error('no way there');
      },
      onFailed: (tx, { payload, attempts, cause }) =>
        grind(`${payload.to} ${attempts} ${cause}`)(tx) as Promise<void>,
    });
    mill.start();
    await add(mill, 'send', { payload: { to: 'ada' } });
    await until(async () => (await all(mill))[0]?.state === 'failed');
    assert.deepEqual(tries, [1, 2, 3]);
    assert.deepEqual(await flour(mill), ['ada 3 no way there']);
    assert.equal((await all(mill))[0]!.error, 'no way there');
  }));

test('an owner that cannot take note of a failure does not stop the queue', () =>
  inMill(async (mill) => {
    mill.jobs.queue('send', {
      tries: 1,
      work: () => Promise.reject(new Error('no')),
      onFailed: () => Promise.reject(new Error('neither')),
    });
    mill.start();
    await add(mill, 'send', { payload: 1 });
    await until(async () => (await all(mill))[0]?.state === 'failed');
  }));

test('an owner that cannot take note of a job that waited too long does not stop the other queues', () =>
  inMill(async (mill) => {
    mill.jobs.queue('late', {
      deadlineMs: 1,
      work: async () => assert.fail('it begins too late'),
      onFailed: async () => Promise.reject(new Error('no note of this')),
    });
    mill.jobs.queue<string>('grind', { work: async ({ payload }) => ({ write: grind(payload) }) });
    await add(mill, 'late', { payload: 1 });
    await sleep(5);
    mill.start();
    await add(mill, 'grind', { payload: 'another' });
    await until(() => mill.ended.length === 2);
    assert.deepEqual(mill.ended.map(({ queue, state }) => `${queue} ${state}`).toSorted(), [
      'grind done',
      'late failed',
    ]);
  }));

test('work says when it wants to be tried again, and that no try would help', () =>
  inMill(async (mill) => {
    const tries: number[] = [];
    mill.jobs.queue<string>('send', {
      tries: 1,
      work: async ({ payload, attempt }) => {
        if (payload === 'hopeless') {
          throw new GiveUp('gone');
        }
        tries.push(attempt);
        if (tries.length < 4) {
          throw new TryLater('not yet', { afterMs: 1, counts: false });
        }
      },
    });
    mill.start();
    await add(mill, 'send', { payload: 'later' }, { payload: 'hopeless' });
    await until(() => tries.length === 4);
    assert.deepEqual(tries, [1, 1, 1, 1]);
    await until(async () => (await all(mill)).length === 1);
    assert.deepEqual(
      (await all(mill)).map(({ state, error }) => [state, error]),
      [['failed', 'gone']],
    );
  }));

test('a try that hangs ends at its deadline and is told to stop; a job that waits too long never begins', () => {
  let ahead = 0;
  return inMill(
    async (mill) => {
      let stopped = 0;
      mill.jobs.queue('hang', {
        timeoutMs: 40,
        tries: 2,
        backoffMs: 5,
        work: ({ signal }) =>
          new Promise(() => signal.addEventListener('abort', () => (stopped += 1))),
      });
      mill.jobs.queue('brief', { deadlineMs: 1_000, work: async () => assert.fail('too late') });
      mill.start();
      await add(mill, 'hang', { payload: 1 });
      await until(async () => (await all(mill))[0]?.state === 'failed');
      assert.equal(stopped, 2);
      assert.match((await all(mill))[0]!.error!, /a job of hang did not finish within 40 ms/);
      await add(mill, 'brief', { payload: 1, delayMs: 900 });
      ahead = 2_000;
      await until(async () => (await mill.jobs.count({ state: 'failed', queue: 'brief' })) === 1);
    },
    { clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() } },
  );
});

test('a clock that goes back delays nothing for ever and frees what was leased', () => {
  let now = Date.now();
  return inMill(
    async (mill) => {
      const heard: unknown[] = [];
      mill.jobs.queue('send', { work: async ({ payload }) => void heard.push(payload) });
      await add(mill, 'send', { payload: 'later', delayMs: 1_000 });
      now -= 7_200_000;
      mill.start();
      await until(() => heard.length === 1);
    },
    { clock: { now: () => now, monotonic: () => performance.now() } },
  );
});

test('one that waits is cancelled at once, one that runs is told to stop, and their owner hears of both', () =>
  inMill(async (mill) => {
    const said: string[] = [];
    mill.jobs.queue<string>('send', {
      atOnce: 1,
      work: ({ signal }: Job<string, MillTables>) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        ),
      onFailed: async (_tx, { payload, state }) => void said.push(`${payload} ${state}`),
    });
    mill.jobs.queue('sacred', { cancellable: false, work: async () => undefined });
    mill.start();
    await add(mill, 'send', { payload: 'runs' }, { payload: 'waits' });
    await until(async () => (await mill.jobs.count({ state: 'running' })) === 1);
    for (const { id } of await all(mill)) {
      await mill.jobs.cancel(id, 'Ada');
    }
    await until(async () => (await mill.jobs.count({ state: 'cancelled' })) === 2);
    assert.deepEqual(new Set(said), new Set(['runs cancelled', 'waits cancelled']));
    const [one] = await all(mill);
    await assert.rejects(mill.jobs.cancel(one!.id, 'Ada'), /has ended already: cancelled/);
    await assert.rejects(mill.jobs.cancel('none', 'Ada'), /there is no job none/);
    await add(mill, 'sacred', { payload: 1, id: 'sacred-1', delayMs: 60_000 });
    await assert.rejects(mill.jobs.cancel('sacred-1', 'Ada'), /jobs of sacred cannot be cancelled/);
  }));

test('a parked job holds up nobody and goes on when it is woken, also when that came before it was parked', () =>
  inMill(async (mill) => {
    const heard: string[] = [];
    let isDecided = false;
    mill.jobs.queue<string>('ask', {
      work: async ({ payload }) => {
        heard.push(payload);
        if (payload === 'first' && !isDecided) {
          return { state: 'parked' };
        }
        if (payload === 'third' && heard.filter((name) => name === 'third').length === 1) {
          await mill.jobs.wake('ask', { id: 'third' });
          return { state: 'parked' };
        }
        return undefined;
      },
    });
    mill.start();
    await add(
      mill,
      'ask',
      { payload: 'first', lane: 'l', id: 'first' },
      { payload: 'second', lane: 'l' },
    );
    await until(() => heard.length === 2);
    assert.equal((await mill.jobs.find('first'))?.state, 'parked');
    isDecided = true;
    await mill.jobs.wake('ask', { id: 'first' });
    await until(() => heard.length === 3);
    await add(mill, 'ask', { payload: 'third', id: 'third' });
    await until(async () => (await all(mill)).length === 0);
    assert.deepEqual(heard, ['first', 'second', 'first', 'third', 'third']);
  }));

test('work with more to do ends its try and goes on after a while, with what it wrote, and no try is counted', () =>
  inMill(async (mill) => {
    const tries: number[] = [];
    mill.jobs.queue<string>('pump', {
      tries: 2,
      work: async ({ attempt }) => {
        tries.push(attempt);
        return tries.length < 4
          ? { state: 'waiting', afterMs: 20, write: grind(`turn ${tries.length}`) }
          : undefined;
      },
    });
    mill.start();
    const from = performance.now();
    await add(mill, 'pump', { payload: 'all', key: 'all' });
    await until(async () => (await all(mill)).length === 0);
    assert.ok(performance.now() - from >= 60);
    assert.deepEqual(tries, [1, 1, 1, 1]);
    assert.deepEqual(await flour(mill), ['turn 1', 'turn 2', 'turn 3']);
  }));

test('asked for again later while it runs, a job goes on then and not at once', () =>
  inMill(async (mill) => {
    const at: number[] = [];
    mill.jobs.queue<string>('pump', {
      work: async () => {
        at.push(performance.now());
        if (at.length === 1) {
          const more = { payload: 'all', key: 'all', again: true, delayMs: 150 };
          await add(mill, 'pump', { ...more, delayMs: 400 });
          await add(mill, 'pump', more);
          await add(mill, 'pump', { ...more, delayMs: 300 });
          return { state: 'waiting', afterMs: 60_000 };
        }
        return undefined;
      },
    });
    mill.start();
    await add(mill, 'pump', { payload: 'all', key: 'all' });
    await until(async () => (await all(mill)).length === 0);
    assert.equal(at.length, 2);
    assert.ok(at[1]! - at[0]! >= 145, `${at[1]! - at[0]!} ms`);
  }));

test('work that had more to do, or waits for people, ends once it is cancelled', () =>
  inMill(async (mill) => {
    const said: string[] = [];
    let begun = 0;
    for (const state of ['waiting', 'parked'] as const) {
      mill.jobs.queue(state, {
        work: async ({ signal }) => {
          begun += 1;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return { state, write: grind(state) };
        },
        onFailed: async (_tx, { cause }) => void said.push(cause),
      });
    }
    mill.start();
    await add(mill, 'waiting', { payload: 1, id: 'a' });
    await add(mill, 'parked', { payload: 1, id: 'b' });
    await until(() => begun === 2);
    await mill.jobs.cancel('a', 'Ada');
    await mill.jobs.cancel('b', 'Ada');
    await until(async () => (await mill.jobs.count({ state: 'cancelled' })) === 2);
    assert.deepEqual((await flour(mill)).toSorted(), ['parked', 'waiting']);
    assert.deepEqual(said, ['the job was cancelled', 'the job was cancelled']);
  }));

test('a job tells how far it is', () =>
  inMill(async (mill) => {
    let go = (): void => undefined;
    mill.jobs.queue('long', {
      work: ({ progress }) => {
        progress({ done: 3, total: 9, note: 'reading' });
        return new Promise<void>((resolve) => (go = resolve));
      },
    });
    mill.start();
    await add(mill, 'long', { payload: 1 });
    await until(async () => (await all(mill))[0]?.progress?.done === 3);
    assert.deepEqual((await all(mill))[0]!.progress, { done: 3, total: 9, note: 'reading' });
    go();
  }));

test('while a plugin is reloaded the next generation goes on, and an interrupted try does not count', () =>
  inMill(async (old, again) => {
    const heard: string[] = [];
    old.jobs.queue('send', {
      work: ({ attempt, signal }) => {
        heard.push(`old ${attempt}`);
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('ending'))),
        );
      },
    });
    old.start();
    await add(old, 'send', { payload: 1 });
    await until(() => heard.length === 1);
    const next = await again({ generation: 2 });
    next.jobs.queue('send', { work: async ({ attempt }) => void heard.push(`new ${attempt}`) });
    next.start();
    await sleep(50);
    await old.leave();
    await until(() => heard.length === 2);
    assert.deepEqual(heard, ['old 1', 'new 1']);
  }));

test('a process that is gone has lost its leases: its writes change nothing, and what is done once is not done again', () =>
  inMill(async (_mill, again) => {
    // Its clock stands still: a process that is gone looks after nothing any more.
    const old = await again({ clock: { now: () => Date.now(), monotonic: () => 0 } });
    const ends: Promise<unknown>[] = [];
    let go = (): void => undefined;
    const wait = new Promise<void>((resolve) => (go = resolve));
    let begun = 0;
    const work = async (job: Job<string, MillTables>) => {
      begun += 1;
      await wait;
      const written = job.write(grind(`old ${job.payload}`));
      ends.push(written.catch((error: unknown) => assert.ok(error instanceof LeaseLost)));
      return { write: grind(`old end ${job.payload}`) };
    };
    old.jobs.queue<string>('often', { work });
    old.jobs.queue<string>('once', { delivery: 'once', work });
    old.start();
    await add(old, 'often', { payload: 'often' });
    await add(old, 'once', { payload: 'once' });
    await until(() => begun === 2);
    const next = await again({ process: 'p2' });
    next.jobs.queue<string>('often', {
      work: async ({ payload, attempt }) => ({ write: grind(`new ${payload} ${attempt}`) }),
    });
    next.jobs.queue<string>('once', {
      delivery: 'once',
      work: async () => assert.fail('twice'),
      onFailed: (tx, { cause }) => grind(cause)(tx) as Promise<void>,
    });
    next.start();
    await until(async () => (await flour(next)).length === 2);
    go();
    await until(() => ends.length >= 2);
    await Promise.all(ends);
    await sleep(50);
    // On a busy machine the new process may lose a lease as well, and begins once more.
    assert.deepEqual(
      new Set((await flour(next)).map((line) => line.replace(/^new often [2-9]$/, 'new often'))),
      new Set(['new often', 'svc stopped while it ran; it may have been done']),
    );
  }));

test('a disk that takes no writes for a while loses nothing and does nothing twice', () =>
  withStorage(async (storage) => {
    const tables = storage.tables<MillTables>('mill');
    let full = false;
    const complaints: string[] = [];
    const mill = await openMill(storage, {
      tables: {
        read: tables.read,
        write: (work) => (full ? Promise.reject(new Error('disk is full')) : tables.write(work)),
      },
      log: { ...silent, error: (_fields, message) => void complaints.push(message) },
    });
    const heard: unknown[] = [];
    mill.jobs.queue('send', {
      work: async ({ payload }) => {
        heard.push(payload);
        full = true;
      },
    });
    mill.start();
    await add(mill, 'send', { payload: 1 });
    await until(() => complaints.length > 0);
    await sleep(1_200);
    full = false;
    await until(async () => (await all(mill)).length === 0);
    assert.deepEqual(heard, [1]);
    assert.deepEqual(complaints, ['failed to read or write jobs; retrying']);
    await mill.leave();
  }));

test('jobs are listed newest first, page by page, by queue and state', () =>
  inMill(async (mill) => {
    mill.jobs.queue<number>('a', { title: (payload) => `number ${payload}`, work: async () => {} });
    mill.jobs.queue('b', { work: async () => {} });
    await add(mill, 'a', { payload: 1, id: 'a1' }, { payload: 2, id: 'a2' });
    await sleep(3);
    await add(mill, 'b', { payload: 3, id: 'b1' });
    const [first, second] = await mill.jobs.page({}, undefined, 2);
    assert.deepEqual([first!.id, second!.title], ['b1', 'number 2']);
    assert.deepEqual(
      (await mill.jobs.page({}, second, 9)).map(({ id }) => id),
      ['a1'],
    );
    assert.equal(await mill.jobs.count({ queue: 'a', state: 'waiting' }), 2);
    mill.jobs.queue('b', { work: async () => {}, listed: false });
    assert.deepEqual([await mill.jobs.count({}), await mill.jobs.find('b1')], [2, undefined]);
    assert.deepEqual(
      (await all(mill)).map(({ id }) => id),
      ['a2', 'a1'],
    );
  }));

test('a job that is too large, or of a queue that there is not, is refused', () =>
  inMill(async (mill) => {
    mill.jobs.queue('send', { work: async () => undefined });
    await assert.rejects(
      add(mill, 'send', { payload: 'x'.repeat(1024 * 1024) }),
      /a job of send has 1048578 bytes, 1048576 are allowed/,
    );
    await assert.rejects(add(mill, 'other', { payload: 1 }), /mill has no queue other/);
    assert.match(jobTable('mill_jobs'), /CREATE TABLE mill_jobs/);
  }));
