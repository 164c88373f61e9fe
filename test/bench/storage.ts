import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Storage } from '../../core/storage/index.ts';
import type { Outcome } from '../exercise.ts';
import { openIn } from '../storage/folder.ts';

interface Rows {
  bench_row: { id: number; name: string; state: string; note: string; created_at: number };
}

const migration = {
  name: '001-init.sql',
  sql: 'create table bench_row (id integer primary key, name text not null, state text not null, note text not null, created_at integer not null) strict',
};

const row = (id: number): Rows['bench_row'] => ({
  id,
  name: `row ${id}`,
  state: 'open',
  note: 'x'.repeat(130),
  created_at: id,
});

/** Acknowledged writes a second, sharing commits and not; time of one read and of a page of 50. */
export async function run({
  seconds = 2,
  callers = 64,
  rows = 20_000,
}: {
  readonly seconds?: number;
  readonly callers?: number;
  readonly rows?: number;
} = {}): Promise<Outcome> {
  const alone = await inStorage({ groupUnits: 1 }, (storage) =>
    writesPerSecond(storage, 1, seconds),
  );
  const apart = await inStorage({ groupUnits: 1 }, (storage) =>
    writesPerSecond(storage, callers, seconds),
  );
  const shared = await inStorage({}, (storage) => writesPerSecond(storage, callers, seconds));
  const reads = await inStorage({}, (storage) => readTimes(storage, rows));
  return {
    ok: shared > 2 * apart,
    // Every write is acknowledged after the fsync of its commit.
    writes: [
      { case: 'one caller', 'writes/s': Math.round(alone), ratio: alone / apart },
      { case: `${callers} callers, each its own commit`, 'writes/s': Math.round(apart), ratio: 1 },
      {
        case: `${callers} callers, sharing commits`,
        'writes/s': Math.round(shared),
        ratio: shared / apart,
      },
    ],
    reads: [
      { case: 'get by id', µs: reads.get },
      { case: 'page of 50 by keyset', µs: reads.page },
    ],
  };
}

async function inStorage<R>(
  writes: { groupUnits?: number },
  work: (storage: Storage) => Promise<R>,
): Promise<R> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const storage = await openIn(dir, { writes });
  try {
    await storage.migrate('bench', [migration]);
    return await work(storage);
  } finally {
    await storage.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function writesPerSecond(
  storage: Storage,
  callers: number,
  seconds: number,
): Promise<number> {
  const tables = storage.tables<Rows>('bench');
  const began = performance.now();
  const until = began + seconds * 1_000;
  let id = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const next = row(++id);
      await tables.write((tx) => tx.insertInto('bench_row').values(next).execute());
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (id / (performance.now() - began)) * 1_000;
}

async function readTimes(storage: Storage, rows: number): Promise<{ get: number; page: number }> {
  const { read, write } = storage.tables<Rows>('bench');
  for (let from = 1; from <= rows; from += 500) {
    await write((tx) =>
      tx
        .insertInto('bench_row')
        .values(Array.from({ length: 500 }, (_, index) => row(from + index)))
        .execute(),
    );
  }
  const get = (id: number): Promise<unknown> =>
    read.selectFrom('bench_row').selectAll().where('id', '=', id).executeTakeFirst();
  const page = (id: number): Promise<unknown> =>
    read
      .selectFrom('bench_row')
      .selectAll()
      .where('id', '<', id)
      .orderBy('id', 'desc')
      .limit(50)
      .execute();
  return { get: await bestOf(rows, 3_000, get), page: await bestOf(rows, 500, page) };
}

/** Microseconds of one call; the best of five rounds, since the machine has other work too. */
async function bestOf(
  rows: number,
  calls: number,
  call: (id: number) => Promise<unknown>,
): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    for (let index = 0; index < calls; index++) {
      await call(((index * 7_919) % rows) + 1);
    }
    best = Math.min(best, ((performance.now() - began) * 1_000) / calls);
  }
  return best;
}
