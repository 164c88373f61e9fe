import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

import type { Secrets } from 'svc/sdk';

import { loadMigrations } from '../../../core/storage/index.ts';
import { bind } from '../../../plugins/audit/rows/chain.ts';
import { Checkpoints } from '../../../plugins/audit/checkpoints.ts';
import { Keys } from '../../../plugins/audit/keys.ts';
import { Memory } from '../../../plugins/audit/memory.ts';
import { canonical } from '../../../plugins/audit/rows/record.ts';
import { retention } from '../../../plugins/audit/retention.ts';
import { Store } from '../../../plugins/audit/rows/store.ts';
import type { AuditTables } from '../../../plugins/audit/rows/tables.ts';
import { Trail } from '../../../plugins/audit/trail.ts';
import { Verification } from '../../../plugins/audit/verification.ts';
import { openIn, silent } from '../../storage/folder.ts';
import { folder, inFile, type Logged, record, withoutTriggers } from './house.ts';

const migrations = loadMigrations(
  fileURLToPath(new URL('../../../plugins/audit/migrations', import.meta.url)),
);
const day = 24 * 60 * 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');

/** Seals nothing, but knows the place. */
const secrets: Secrets = {
  seal: (place, plain) => JSON.stringify([place, plain]),
  open(place, sealed) {
    const [sealedAt, plain] = JSON.parse(sealed) as [unknown, string];
    assert.deepEqual(sealedAt, place);
    return plain;
  },
};

/** The trail on a clock that can be set, a row a day. */
async function trailOf(t: TestContext, options: { days: number; rows: number; released?: number }) {
  const dataDir = folder(t);
  const storage = await openIn(dataDir);
  t.after(() => storage.close());
  await storage.migrate('audit', migrations);
  let now = start;
  const clock = { now: () => now, monotonic: () => performance.now() };
  const tables = storage.tables<AuditTables>('audit');
  const store = new Store(tables);
  let drawn = 0;
  const ids = { uuid: () => '', token: () => Buffer.alloc(32, ++drawn).toString('base64url') };
  const keys = await Keys.open({ store, secrets, ids, clock, log: silent });
  const trail = new Trail(store, keys, () => {});
  const seen = new Memory(store);
  const signed = new Checkpoints({ store, keys, memory: seen, clock, dataDir });
  await signed.sign();
  const verification = new Verification({
    store,
    keys,
    checkpoints: signed,
    memory: seen,
    pause: async () => {},
  });
  const archiveOld = retention({
    store,
    keys,
    clock,
    log: silent,
    dataDir,
    days: () => options.days,
    released: async () => options.released ?? Infinity,
  });
  const add = (index: number): Promise<void> =>
    trail.append(undefined, record({ occurredAt: start + index * day, requestId: `r-${index}` }));
  for (let index = 0; index < options.rows; index++) {
    await add(index);
  }
  return {
    dataDir,
    keys,
    store,
    write: tables.write,
    signed,
    seen,
    add,
    archive: (at: number) => {
      now = start + at * day;
      return archiveOld(new AbortController().signal);
    },
    verify: () => verification.run(),
    files: () =>
      existsSync(join(dataDir, 'archive')) ? readdirSync(join(dataDir, 'archive')).sort() : [],
    archived: (name: string): Logged[] =>
      gunzipSync(readFileSync(join(dataDir, 'archive', name)))
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Logged),
    kept: async () => (await store.next(0, 1_000)).map(({ seq }) => seq),
  };
}

test('rows stay until a sink has them, however old they are', async (t) => {
  const { archive, kept, verify } = await trailOf(t, { days: 1, rows: 6, released: 2 });
  await archive(20);
  assert.deepEqual(await kept(), [3, 4, 5, 6]);
  assert.equal((await verify()).ok, true);
});

test('rows that are too old move into an archive, and an anchor stands for them', async (t) => {
  const { archive, verify, files, archived, kept, signed, dataDir, add, keys } = await trailOf(t, {
    days: 5,
    rows: 10,
  });
  await signed.sign();
  await archive(9);
  assert.deepEqual(await kept(), [5, 6, 7, 8, 9, 10]);
  assert.deepEqual(files(), ['1-4.jsonl.gz']);
  assert.equal(statSync(join(dataDir, 'archive', '1-4.jsonl.gz')).mode & 0o777, 0o600);
  assert.deepEqual(await verify(), { ok: true, rows: 6, checkpoints: 1, anchors: 1 });

  await add(10);
  await archive(12);
  assert.deepEqual(files(), ['1-4.jsonl.gz', '5-7.jsonl.gz']);
  assert.deepEqual(await verify(), { ok: true, rows: 4, checkpoints: 1, anchors: 2 });

  let previous = '0'.repeat(64);
  for (const { id, occurred_at, prev_hash, hash, ...rest } of files().flatMap(archived)) {
    const text = JSON.stringify({ occurred_at: Date.parse(occurred_at), ...rest });
    assert.equal(prev_hash, previous);
    assert.equal(
      hash,
      bind(keys.chain(1)!, previous, id, text),
      `archived row ${id} is what was written`,
    );
    previous = hash;
  }
  assert.equal(
    canonical(record({ occurredAt: start, requestId: 'r-0' })),
    JSON.stringify(withoutPlace(archived('1-4.jsonl.gz')[0]!)),
  );
});

const withoutPlace = ({
  id: _id,
  occurred_at,
  prev_hash: _prev,
  hash: _hash,
  ...rest
}: Logged): object => ({ occurred_at: Date.parse(occurred_at), ...rest });

test('nothing is archived before a whole day of rows is too old, and the last row always stays', async (t) => {
  const { archive, files, kept, verify, add } = await trailOf(t, { days: 5, rows: 3 });
  await archive(6);
  assert.deepEqual([files(), await kept()], [[], [1, 2, 3]]);
  await archive(500);
  assert.deepEqual([files(), await kept()], [['1-2.jsonl.gz'], [3]]);
  await archive(900);
  assert.deepEqual([files(), await kept()], [['1-2.jsonl.gz'], [3]]);
  await add(900);
  await archive(901);
  assert.deepEqual([files(), await kept()], [['1-2.jsonl.gz', '3-3.jsonl.gz'], [4]]);
  assert.deepEqual(await verify(), { ok: true, rows: 1, checkpoints: 0, anchors: 2 });
});

test('an old row that was altered is not archived, for the anchor would vouch for it', async (t) => {
  const { dataDir, archive, files, kept, verify } = await trailOf(t, { days: 1, rows: 6 });
  withoutTriggers(dataDir, (database) =>
    database.exec("update audit_log set record = replace(record, 'r-2', 'r-9') where seq = 3"),
  );
  await assert.rejects(
    archive(100),
    /Old audit log rows were not deleted, because row 3 is invalid: it was altered/,
  );
  assert.deepEqual(
    [files().filter((name) => name !== 'unfinished'), (await kept()).length],
    [[], 6],
  );
  assert.equal((await verify()).first_bad_seq, 3);
});

test('what a crash left of an archive is replaced', async (t) => {
  const { dataDir, archive, files, kept, archived, verify } = await trailOf(t, {
    days: 1,
    rows: 6,
  });
  await archive(4);
  assert.deepEqual(files(), ['1-3.jsonl.gz']);
  writeFileSync(join(dataDir, 'archive', 'unfinished'), 'half');
  writeFileSync(join(dataDir, 'archive', '4-9.jsonl.gz'), 'of rows that were not removed');
  await archive(100);
  assert.deepEqual(files(), ['1-3.jsonl.gz', '4-5.jsonl.gz']);
  assert.deepEqual(
    archived('4-5.jsonl.gz').map(({ id }) => id),
    [4, 5],
  );
  assert.deepEqual([await kept(), (await verify()).ok], [[6], true]);
});

test('no anchor, no archive: when the file cannot be written the rows stay', async (t) => {
  const { dataDir, archive, kept, verify } = await trailOf(t, { days: 1, rows: 6 });
  writeFileSync(join(dataDir, 'archive'), 'in the way');
  await assert.rejects(archive(100));
  assert.deepEqual(
    [(await kept()).length, await verify()],
    [6, { ok: true, rows: 6, checkpoints: 0, anchors: 0 }],
  );
});

test('an anchor that was made up, altered or taken away is told on', async (t) => {
  const { dataDir, archive, verify } = await trailOf(t, { days: 1, rows: 6 });
  await archive(100);
  const deeds = {
    'update audit_anchors set to_seq = 4, count = 4': /anchor for rows 1 to 4 is not signed/,
    "update audit_anchors set to_seq = 5, count = 5, last_hash = 'x'": /not signed/,
    'delete from audit_anchors': /it is missing; row 6 follows row 0/,
  };
  for (const [deed, reason] of Object.entries(deeds)) {
    withoutTriggers(dataDir, (database) => database.exec(deed));
    const { ok, reason: said } = await verify();
    assert.equal(ok, false, deed);
    assert.match(said!, reason);
  }
});

test('a walk that retention overtakes is walked again', async (t) => {
  const { archive, store, keys, signed, seen, dataDir } = await trailOf(t, {
    days: 1,
    rows: 3_500,
  });
  let pauses = 0;
  const verification = new Verification({
    store,
    keys,
    checkpoints: signed,
    memory: seen,
    pause: async () => ((pauses += 1) === 1 ? await archive(5_000) : undefined),
  });
  assert.deepEqual(await verification.run(), { ok: true, rows: 1, checkpoints: 0, anchors: 1 });
  assert.ok(pauses >= 1);
  assert.equal(
    inFile(dataDir, (database) => database.prepare('select count(*) from audit_log').pluck().get()),
    1,
  );
});

test('a row that was rolled back was never seen', async (t) => {
  const { add, seen, write, verify } = await trailOf(t, { days: 1, rows: 2 });
  const undone = write(async () => {
    await add(3);
    assert.equal((await seen.look()).seq, 2);
    throw new Error('changed my mind');
  });
  await assert.rejects(undone, /changed my mind/);
  assert.equal((await seen.look()).seq, 2);
  assert.equal((await verify()).ok, true);
  await add(4);
  assert.deepEqual([(await seen.look()).seq, (await verify()).ok], [3, true]);
});

test('what was seen may be archived', async (t) => {
  const { add, seen, archive, verify } = await trailOf(t, { days: 1, rows: 3 });
  assert.equal((await seen.look()).seq, 3);
  await add(50);
  await archive(50);
  assert.deepEqual([(await seen.look()).seq, (await verify()).ok], [4, true]);
});

test('every thousand rows are signed without waiting for the hour', async (t) => {
  const { add, signed, verify } = await trailOf(t, { days: 1, rows: 999 });
  await signed.keepUp();
  assert.equal((await verify()).checkpoints, 0);
  await add(1_000);
  await signed.keepUp();
  await signed.keepUp();
  assert.equal((await verify()).checkpoints, 1);
});
