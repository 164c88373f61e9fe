import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

import { sql } from 'kysely';
import { isSvcError, type SvcError } from 'svc/sdk';

import type { Storage, StorageOptions } from '../../core/storage/index.ts';
import { overPostgres } from '../kit/database.ts';
import { type Notes, notesMigration, startWriter, withStorage } from './folder.ts';

const unavailable = (part: RegExp) => (error: SvcError) =>
  isSvcError(error) && error.code === 'unavailable' && part.test(error.message);

async function withNotes(
  work: (storage: Storage) => Promise<void>,
  options: Partial<StorageOptions> = {},
): Promise<void> {
  await withStorage(async (storage) => {
    await storage.migrate('notes', [notesMigration]);
    await work(storage);
  }, options);
}

const add = (storage: Storage, text: string): Promise<unknown> =>
  storage.tables<Notes>('notes').write((tx) =>
    tx
      .insertInto('notes_note')
      .values({ text } as never)
      .execute(),
  );

const texts = async (storage: Storage): Promise<string[]> =>
  (
    await storage
      .tables<Notes>('notes')
      .read.selectFrom('notes_note')
      .select('text')
      .orderBy('id')
      .execute()
  ).map(({ text }) => text);

/** Counts what the main thread asks of the writer. */
function counted(): {
  startWriter: StorageOptions['startWriter'];
  steps: string[];
  workers: Worker[];
} {
  const steps: string[] = [];
  const workers: Worker[] = [];
  return {
    steps,
    workers,
    startWriter(data) {
      const worker = startWriter(data);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (message: { step?: string; kind?: string }) => {
        steps.push(message.step ?? message.kind ?? '');
        post(message);
      };
      workers.push(worker);
      return worker;
    },
  };
}

/** Of a thread that dies, or with what SQLite alone can be made to do. */
const aboutSqlite = { skip: overPostgres && 'this is about the thread that writes to SQLite' };

test('a write is seen by every read after it resolves', () =>
  withNotes(async (storage) => {
    await add(storage, 'one');
    assert.deepEqual(await texts(storage), ['one']);
  }));

test('writes that come together share commits, and each still is its own', async () => {
  const { startWriter, steps } = counted();
  await withNotes(
    async (storage) => {
      steps.length = 0;
      const results = await Promise.allSettled(
        Array.from({ length: 100 }, (_, index) =>
          add(storage, index % 10 === 3 ? 'same' : `note ${index}`),
        ),
      );
      assert.equal(
        results.filter(({ status }) => status === 'rejected').length,
        9,
        'nine of the ten equal texts break the unique index',
      );
      assert.equal((await texts(storage)).length, 91);
      const commits = steps.filter((step) => step === 'commit').length;
      assert.ok(commits < 90, `100 writes took ${commits} commits`);
    },
    { startWriter },
  );
});

test('what throws is undone, what else is in the group stays', () =>
  withNotes(async (storage) => {
    const failing = storage.tables<Notes>('notes').write(async (tx) => {
      await tx.insertInto('notes_note').values({ id: 7, text: 'never' }).execute();
      throw new Error('changed my mind');
    });
    const [bad, good] = await Promise.allSettled([failing, add(storage, 'kept')]);
    assert.equal(bad.status === 'rejected' && (bad.reason as Error).message, 'changed my mind');
    assert.equal(good.status, 'fulfilled');
    assert.deepEqual(await texts(storage), ['kept']);
  }));

test('a constraint keeps its SQLite code across the thread', () =>
  withNotes(async (storage) => {
    await add(storage, 'one');
    await assert.rejects(add(storage, 'one'), { code: 'SQLITE_CONSTRAINT_UNIQUE' });
  }));

test('a write inside a write joins it, and can fail alone', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    await notes.write(async (tx) => {
      await tx.insertInto('notes_note').values({ id: 1, text: 'outer' }).execute();
      await notes.write((inner) =>
        inner.insertInto('notes_note').values({ id: 2, text: 'inner' }).execute(),
      );
      await assert.rejects(
        notes.write(async (inner) => {
          await inner.insertInto('notes_note').values({ id: 3, text: 'undone' }).execute();
          throw new Error('no');
        }),
      );
    });
    assert.deepEqual(await texts(storage), ['outer', 'inner']);
    await assert.rejects(
      notes.write(async () => {
        await notes.write((inner) =>
          inner.insertInto('notes_note').values({ id: 4, text: 'lost with the outer' }).execute(),
        );
        throw new Error('no');
      }),
    );
    assert.deepEqual(await texts(storage), ['outer', 'inner']);
  }));

test('an inner write that fails takes nothing of the outer along, even when both run at once', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    await notes.write(async (tx) => {
      await Promise.allSettled([
        notes.write(async (inner) => {
          await inner.insertInto('notes_note').values({ id: 1, text: 'undone' }).execute();
          await pause(20);
          throw new Error('no');
        }),
        notes.write((inner) =>
          inner.insertInto('notes_note').values({ id: 2, text: 'sibling' }).execute(),
        ),
        tx.insertInto('notes_note').values({ id: 3, text: 'outer' }).execute(),
      ]);
    });
    assert.deepEqual(await texts(storage), ['sibling', 'outer']);
  }));

test('an inner write may use the transaction of the outer one without a deadlock', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    await notes.write((tx) =>
      notes.write(() =>
        tx.insertInto('notes_note').values({ id: 1, text: 'through the outer' }).execute(),
      ),
    );
    assert.deepEqual(await texts(storage), ['through the outer']);
  }));

test('a read inside a write answers at once and sees what is committed', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    await notes.write(async (tx) => {
      await tx.insertInto('notes_note').values({ id: 1, text: 'not yet' }).execute();
      assert.deepEqual(await texts(storage), []);
      assert.equal((await tx.selectFrom('notes_note').selectAll().execute()).length, 1);
    });
  }));

test('a read transaction sees one commit from its first query to its last', () =>
  withNotes(async (storage) => {
    const { read } = storage.tables<Notes>('notes');
    await add(storage, 'one');
    await read.transaction().execute(async (view) => {
      assert.equal((await view.selectFrom('notes_note').selectAll().execute()).length, 1);
      await add(storage, 'two');
      assert.equal((await view.selectFrom('notes_note').selectAll().execute()).length, 1);
    });
    assert.equal((await texts(storage)).length, 2);
  }));

test('a read transaction that is left open ends by itself, and more than a few are refused', () =>
  withNotes(
    async (storage) => {
      const { read } = storage.tables<Notes>('notes');
      await read.transaction().execute(async (view) => {
        await assert.rejects(
          read
            .transaction()
            .execute(async (other) => other.selectFrom('notes_note').selectAll().execute()),
          unavailable(/1 read transactions are already open/),
        );
        await pause(700);
        await assert.rejects(
          view.selectFrom('notes_note').selectAll().execute(),
          unavailable(/has ended/),
        );
      });
    },
    { reads: { views: 1, viewMs: 500 } },
  ));

test('a reader cannot write, and nothing streams', () =>
  withNotes(async (storage) => {
    const { read } = storage.tables<Notes>('notes');
    await assert.rejects(
      read.insertInto('notes_note').values({ id: 1, text: 'x' }).execute(),
      unavailable(/cannot be written/),
    );
    await assert.rejects(async () => {
      for await (const _row of read.selectFrom('notes_note').selectAll().stream()) {
        // Never reached.
      }
    }, /page by page/);
  }));

test('a transaction inside a write is refused with the way to do it', () =>
  withNotes(async (storage) => {
    await assert.rejects(
      storage.tables<Notes>('notes').write((tx) => tx.transaction().execute(async () => {})),
      /call write\(\) again/,
    );
  }));

test('a write that outlives its deadline is rolled back, and those behind it go on', () =>
  withNotes(
    async (storage) => {
      const notes = storage.tables<Notes>('notes');
      let late: Promise<unknown> | undefined;
      const slow = notes.write(async (tx) => {
        await tx.insertInto('notes_note').values({ id: 1, text: 'too slow' }).execute();
        await pause(900);
        late = tx.insertInto('notes_note').values({ id: 2, text: 'after the end' }).execute();
        await late;
      });
      const behind = add(storage, 'behind');
      await assert.rejects(slow, unavailable(/took longer than 0.5 s and was rolled back/));
      await behind;
      await pause(900);
      await assert.rejects(late!, unavailable(/rolled back/));
      assert.deepEqual(await texts(storage), ['behind']);
    },
    { writes: { unitMs: 500 } },
  ));

test('a deadline that passes during an inner write undoes the outer one with it', () =>
  withNotes(
    async (storage) => {
      const notes = storage.tables<Notes>('notes');
      const slow = notes.write(async (tx) => {
        await tx.insertInto('notes_note').values({ id: 1, text: 'outer' }).execute();
        await notes.write(async (inner) => {
          await inner.insertInto('notes_note').values({ id: 2, text: 'inner' }).execute();
          await pause(900);
        });
      });
      const [late] = await Promise.allSettled([slow, add(storage, 'behind')]);
      assert.equal(late.status, 'rejected');
      await pause(900);
      await add(storage, 'later');
      assert.deepEqual(await texts(storage), ['behind', 'later']);
    },
    { writes: { unitMs: 500 } },
  ));

test('an outer write that throws while its inner one runs leaves nothing of either', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    let inner: Promise<unknown> | undefined;
    await assert.rejects(
      notes.write(async () => {
        inner = notes.write(async (tx) => {
          await tx.insertInto('notes_note').values({ id: 1, text: 'inner' }).execute();
          await pause(30);
        });
        inner.catch(() => {});
        await pause(5);
        throw new Error('no');
      }),
      /^Error: no$/,
    );
    await add(storage, 'next');
    await assert.rejects(inner!, unavailable(/This write transaction has ended/));
    await add(storage, 'later');
    assert.deepEqual(await texts(storage), ['next', 'later']);
  }));

test('a transaction that is kept after its write is refused', () =>
  withNotes(async (storage) => {
    let kept:
      | Parameters<Parameters<ReturnType<typeof storage.tables<Notes>>['write']>[0]>[0]
      | undefined;
    await storage.tables<Notes>('notes').write(async (tx) => {
      kept = tx;
    });
    await assert.rejects(
      kept!.selectFrom('notes_note').selectAll().execute(),
      unavailable(/This write transaction has ended/),
    );
  }));

test('work that goes on in the background after a write starts writes of its own', () =>
  withNotes(async (storage) => {
    const notes = storage.tables<Notes>('notes');
    let background: Promise<unknown> | undefined;
    await notes.write(async () => {
      background = pause(20).then(() => add(storage, 'later'));
    });
    await background;
    assert.deepEqual(await texts(storage), ['later']);
  }));

test('more writes than may wait are refused at once', () =>
  withNotes(
    async (storage) => {
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => add(storage, `note ${index}`)),
      );
      const refused = results.filter(
        (result) =>
          result.status === 'rejected' &&
          unavailable(/4 writes are already waiting/)(result.reason as SvcError),
      );
      assert.ok(refused.length >= 3, `${refused.length} of 8 were refused`);
    },
    { writes: { waiting: 4 } },
  ));

test('a write that waits too long for its turn is given up before it begins', () =>
  withNotes(
    async (storage) => {
      const blocking = storage.tables<Notes>('notes').write(() => pause(80));
      await assert.rejects(
        add(storage, 'impatient'),
        unavailable(/after waiting 0.03 s for its turn/),
      );
      await blocking;
      assert.deepEqual(await texts(storage), []);
    },
    { writes: { waitMs: 30 } },
  ));

test(
  'when the writer dies, who waits hears it, nothing half stays, and writing goes on',
  aboutSqlite,
  async () => {
    const { startWriter, workers } = counted();
    await withNotes(
      async (storage) => {
        const notes = storage.tables<Notes>('notes');
        const cut = notes.write(async (tx) => {
          await tx.insertInto('notes_note').values({ id: 1, text: 'half' }).execute();
          await workers[0]!.terminate();
          await tx.insertInto('notes_note').values({ id: 2, text: 'other half' }).execute();
        });
        await assert.rejects(cut, unavailable(/writer stopped/));
        await until(() => storage.writable() === undefined);
        await add(storage, 'again');
        assert.deepEqual(await texts(storage), ['again']);
        assert.equal(workers.length, 2);
      },
      { startWriter },
    );
  },
);

test('a writer that does not answer is replaced', aboutSqlite, async () => {
  const { startWriter, workers } = counted();
  await withNotes(
    async (storage) => {
      workers[0]!.postMessage = () => {};
      await assert.rejects(add(storage, 'into the void'), unavailable(/no answer for 1.5 s/));
      await until(() => storage.writable() === undefined);
      await add(storage, 'again');
      assert.deepEqual(await texts(storage), ['again']);
    },
    { startWriter, writes: { stallMs: 1_500 } },
  );
});

test('when a commit fails, every write of the group hears why', aboutSqlite, () =>
  withNotes(async (storage) => {
    // A check that waits for the commit is refused in migrations; this is the way to fail one all the same.
    let undone = 0;
    await assert.rejects(
      storage.witness(
        {
          undone: () => void (undone += 1),
          async beforeCommit(tx) {
            await sql`pragma defer_foreign_keys = on`.execute(tx);
            await sql`create table notes_child (id integer primary key, note integer references notes_note (id)) strict`.execute(
              tx,
            );
            await sql`insert into notes_child (note) values (99)`.execute(tx);
          },
        },
        () => add(storage, 'one'),
      ),
      /FOREIGN KEY constraint failed/,
    );
    assert.deepEqual(await texts(storage), []);
    assert.equal(undone, 1, 'the witness is told that what it saw did not stay');
    await add(storage, 'next group');
    assert.deepEqual(await texts(storage), ['next group']);
  }),
);

test('a witness has the last word in each outermost write, in its transaction and over every table', () =>
  withNotes(async (storage) => {
    const seen: number[] = [];
    await storage.witness(
      {
        async beforeCommit(tx) {
          seen.push((await tx.selectFrom('notes_note').selectAll().execute()).length);
          await tx
            .insertInto('core_idempotency')
            .values({
              key: `k${seen.length}`,
              principal: 'p',
              route: 'r',
              request_hash: 'h',
              created_at: 1,
            })
            .execute();
        },
      },
      async () => {
        const notes = storage.tables<Notes>('notes');
        await notes.write(async (tx) => {
          await notes.write((inner) =>
            inner.insertInto('notes_note').values({ id: 1, text: 'inner' }).execute(),
          );
          await tx.insertInto('notes_note').values({ id: 2, text: 'outer' }).execute();
        });
        await add(storage, 'second write');
      },
    );
    await add(storage, 'not witnessed');
    assert.deepEqual(seen, [2, 3]);
    assert.equal(
      (await storage.core().read.selectFrom('core_idempotency').selectAll().execute()).length,
      2,
    );
  }));

test('a witness that throws undoes the write', () =>
  withNotes(async (storage) => {
    await assert.rejects(
      storage.witness(
        {
          async beforeCommit() {
            throw new Error('no audit row, no change');
          },
        },
        () => add(storage, 'unseen'),
      ),
      /no audit row/,
    );
    assert.deepEqual(await texts(storage), []);
  }));

test('bytes written and returned are Buffers on both ways', () =>
  withStorage(async (storage) => {
    await storage.migrate('blobs', [
      {
        name: '001-init.sql',
        sql: 'create table blobs_blob (id integer primary key, data blob) strict',
      },
    ]);
    const blobs = storage.tables<{ blobs_blob: { id: number; data: Buffer } }>('blobs');
    const data = Buffer.from([1, 2, 255]);
    const [returned] = await blobs.write((tx) =>
      tx.insertInto('blobs_blob').values({ id: 1, data }).returningAll().execute(),
    );
    const [read] = await blobs.read.selectFrom('blobs_blob').selectAll().execute();
    for (const row of [returned, read]) {
      assert.ok(Buffer.isBuffer(row!.data));
      assert.deepEqual(row!.data, data);
    }
  }));

test('a value that cannot be stored fails its own write only', () =>
  withNotes(async (storage) => {
    await assert.rejects(
      storage.tables<Notes>('notes').write((tx) =>
        tx
          .insertInto('notes_note')
          .values({ id: 1, text: (() => {}) as never })
          .execute(),
      ),
    );
    await add(storage, 'fine');
    assert.deepEqual(await texts(storage), ['fine']);
  }));

test('closing finishes the writes that wait, refuses new ones, and may be asked twice', () =>
  withNotes(async (storage) => {
    const waiting = [add(storage, 'one'), add(storage, 'two')];
    await Promise.all([storage.close(), storage.close()]);
    await Promise.all(waiting);
    await assert.rejects(add(storage, 'three'), unavailable(/closing/));
  }));

async function until(ready: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!ready()) {
    assert.ok(performance.now() < deadline, 'it never became so');
    await pause(10);
  }
}
