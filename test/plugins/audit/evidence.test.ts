import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type Database from 'better-sqlite3';
import { auditHouse, folder, inFile, list, post, verify, withoutTriggers } from './house.ts';
import { changedOnPurpose } from '../../on-purpose.ts';
import { onlySqlite } from '../../kit/database.ts';

const logOf = (dataDir: string): string =>
  join(dataDir, 'plugins', 'audit', 'audit-checkpoints.log');
const rowCount = 12;

describe('whoever gets hold of the database file and', () => {
  let kept = '';
  const undo: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void undo.unshift(work) };

  /** Creates twelve rows, the last of which was signed when the host stopped. */
  before(async () => {
    kept = folder(scope);
    const first = await auditHouse(scope, { dataDir: kept });
    for (let index = 1; index <= rowCount; index++) {
      await post(first, 'entries', { text: `${index}` });
    }
    await first.stop();
  });
  after(async () => {
    for (const work of undo) {
      await work();
    }
  });

  const deeds: Readonly<
    Record<
      string,
      {
        readonly deed: (database: Database.Database) => unknown;
        readonly bad: number;
        readonly reason: RegExp;
      }
    >
  > = {
    'flips one bit of a row is found': {
      deed: (database) =>
        database.exec(
          'update audit_log set record = replace(record, \'"http_status":201\', \'"http_status":200\') where seq = 5',
        ),
      bad: 5,
      reason: /altered after it was written/,
    },
    'puts a hash in its place is found': {
      deed: (database) =>
        database.exec(`update audit_log set hash = '${'a'.repeat(64)}' where seq = 5`),
      bad: 5,
      reason: /altered/,
    },
    'alters a row and its hash and the next one’s reference is found': {
      deed: (database) =>
        database.exec(
          `update audit_log set hash = '${'a'.repeat(64)}' where seq = 5; update audit_log set prev_hash = '${'a'.repeat(64)}' where seq = 6`,
        ),
      bad: 5,
      reason: /altered/,
    },
    'deletes a row is found': {
      deed: (database) => database.exec('delete from audit_log where seq = 7'),
      bad: 7,
      reason: /missing; row 8 follows row 6/,
    },
    'deletes a row and closes the gap is found': {
      deed: (database) =>
        database.exec(
          'delete from audit_log where seq = 7; update audit_log set seq = seq - 1 where seq > 7',
        ),
      bad: 7,
      reason: /does not follow the previous row/,
    },
    'deletes the first rows is found': {
      deed: (database) => database.exec('delete from audit_log where seq < 4'),
      bad: 1,
      reason: /missing; row 4 follows row 0/,
    },
    'swaps two rows is found': {
      deed: (database) =>
        database.exec(
          'update audit_log set seq = -3 where seq = 3; update audit_log set seq = 3 where seq = 4; update audit_log set seq = 4 where seq = -3',
        ),
      bad: 3,
      reason: /does not follow the previous row/,
    },
    'puts a row before the first is found': {
      deed: (database) =>
        database.exec(
          'insert into audit_log (seq, key_id, record, prev_hash, hash) select 0, key_id, record, prev_hash, hash from audit_log where seq = 1',
        ),
      bad: 1,
      reason: /row 0 stands behind row 0/,
    },
    'cuts off the tail is found by the checkpoint': {
      deed: (database) => database.exec('delete from audit_log where seq > 9'),
      bad: 10,
      reason: /missing: a checkpoint of 20.* knows row 12/,
    },
    'cuts off the tail and its checkpoint is found by the file beside the database': {
      deed: (database) =>
        database.exec('delete from audit_log where seq > 9; delete from audit_checkpoints'),
      bad: 10,
      reason: /missing: a checkpoint of 20.* knows row 12/,
    },
    'empties the trail is found': {
      deed: (database) => database.exec('delete from audit_log; delete from audit_checkpoints'),
      bad: 1,
      reason: /missing/,
    },
    'removes old rows behind an anchor of their own is found': {
      deed: (database) =>
        database.exec(
          "insert into audit_anchors (to_seq, from_seq, count, last_hash, at, key_id, signature) select 4, 1, 4, hash, 0, 1, 'AAAA' from audit_log where seq = 4; delete from audit_log where seq <= 4",
        ),
      bad: 1,
      reason: /anchor for rows 1 to 4 is not signed/,
    },
  };

  for (const [name, { deed, bad, reason }] of Object.entries(deeds)) {
    test(name, async (t) => {
      const house = await auditHouse(t, { dataDir: folder(t, kept) });
      withoutTriggers(house.dataDir, deed);
      const found = await verify(house);
      assert.deepEqual([found.ok, found.first_bad_seq], [false, bad], JSON.stringify(found));
      assert.match(found.reason!, reason);
      assert.equal(
        (await post(house, 'entries', { text: 'on' })).status,
        201,
        'what happens from now on is still written down',
      );
    });
  }

  test('puts everything back as it was is not', async (t) => {
    const house = await auditHouse(t, { dataDir: folder(t, kept) });
    withoutTriggers(house.dataDir, (database) =>
      database.exec(`create temp table taken as select seq, key_id, record, prev_hash, hash from audit_log where seq > 9;
        delete from audit_log where seq > 9;
        insert into audit_log (seq, key_id, record, prev_hash, hash) select * from taken`),
    );
    assert.deepEqual(await verify(house), { ok: true, rows: rowCount, checkpoints: 1, anchors: 0 });
  });

  test('takes the key away is found', async (t) => {
    const dataDir = folder(t, kept);
    withoutTriggers(dataDir, (database) =>
      database.exec("update audit_keys set chain_key = 'v1.x.x.x.x'"),
    );
    const found = await verify(await auditHouse(t, { dataDir }));
    assert.deepEqual([found.ok, found.first_bad_seq], [false, 1]);
    assert.match(found.reason!, /signed with key 1, which cannot be decrypted/);
  });

  test(
    'flips a byte of the file itself is found, and the rows around it can still be read',
    onlySqlite,
    async (t) => {
      const dataDir = folder(t, kept);
      const text = inFile(
        dataDir,
        (database) =>
          database.prepare('select record from audit_log where seq = 5').pluck().get() as string,
      );
      const file = readFileSync(join(dataDir, 'svc.db'));
      for (let at = file.indexOf(text); at >= 0; at = file.indexOf(text, at)) {
        file[at] = '['.charCodeAt(0);
      }
      writeFileSync(join(dataDir, 'svc.db'), file);
      changedOnPurpose(dataDir);
      const broken = await auditHouse(t, { dataDir });
      const found = await verify(broken);
      assert.deepEqual(
        [found.first_bad_seq, found.reason],
        [5, 'it was altered after it was written'],
      );
      const { items } = await list(broken, '?action=ledger:entries');
      assert.equal(items.length, rowCount);
      assert.match(items.find(({ id }) => id === 5)!.error!, /cannot be read/);
      assert.equal((await post(broken, 'entries', { text: 'on' })).status, 201);
    },
  );
});

test('a checkpoint that somebody else wrote, or altered, is told on', async (t) => {
  const dataDir = folder(t);
  const first = await auditHouse(t, { dataDir });
  await post(first, 'entries', { text: 'one' });
  await first.stop();
  assert.equal(statSync(logOf(dataDir)).mode & 0o777, 0o600);
  const signed = readFileSync(logOf(dataDir), 'utf8');
  const house = await auditHouse(t, { dataDir });
  for (const line of [
    'hello',
    'null',
    '{"seq":1}',
    signed.trim().replace('"seq":1', '"seq":2'),
    signed
      .trim()
      .replace(/"signature":"./, (head) =>
        head.endsWith('A') ? '"signature":"B' : '"signature":"A',
      ),
  ]) {
    writeFileSync(logOf(dataDir), `${signed}${line}\n`);
    const { ok, rows, reason, first_bad_seq } = await verify(house);
    assert.deepEqual([ok, rows > 0, first_bad_seq], [false, true, undefined], line);
    assert.match(reason!, /is not signed by a key of this trail/, line);
  }
  writeFileSync(logOf(dataDir), signed);
  assert.equal((await verify(house)).ok, true);
});

test('a line that a crash tore, or that never came to the file, is written again at the next checkpoint', async (t) => {
  const dataDir = folder(t);
  for (let run = 1; run <= 3; run++) {
    const house = await auditHouse(t, { dataDir });
    await post(house, 'entries', { text: `${run}` });
    await house.stop();
    if (run === 2) {
      truncateSync(logOf(dataDir), statSync(logOf(dataDir)).size - 10);
    }
  }
  const lines = readFileSync(logOf(dataDir), 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
    [0, 1, 2, 3],
  );
  const house = await auditHouse(t, { dataDir });
  assert.deepEqual(await verify(house), { ok: true, rows: 3, checkpoints: 3, anchors: 0 });
  rmSync(logOf(dataDir));
  assert.deepEqual((await verify(house)).checkpoints, 3, 'the table has them, too');
});

test('a new master key does not end the chain', async (t) => {
  const dataDir = folder(t);
  const fresh = Buffer.alloc(32, 7).toString('base64');
  const first = await auditHouse(t, { dataDir });
  await post(first, 'entries', { text: 'one' });
  await first.stop();

  const rotated = await auditHouse(t, { dataDir, environment: { SVC_SECRET_KEY: fresh } });
  await post(rotated, 'entries', { text: 'two' });
  const { ok, rows } = await verify(rotated);
  assert.deepEqual([ok, rows], [true, 2]);
  await rotated.stop();
});

test('a lost master key does not end it either: what it bound cannot be verified, what comes can', async (t) => {
  const dataDir = folder(t);
  const first = await auditHouse(t, { dataDir });
  await post(first, 'entries', { text: 'one' });
  await first.stop();
  writeFileSync(join(dataDir, 'keys', 'secret.key'), Buffer.alloc(32, 7).toString('base64'));
  const lost = await auditHouse(t, { dataDir });
  assert.equal((await post(lost, 'entries', { text: 'three' })).status, 201);
  const found = await verify(lost);
  assert.deepEqual([found.ok, found.first_bad_seq], [false, 1]);
  assert.match(
    found.reason!,
    /signed with key 1, which cannot be decrypted: restore the master key/,
  );
  const [newest] = (await list(lost, '?action=ledger:entries')).items;
  assert.equal(newest!.prev_hash.length, 64);
  assert.ok(lost.lines.some((line) => line.includes('cannot be decrypted')));
});
