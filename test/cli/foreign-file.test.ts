import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import Database from 'better-sqlite3';

import { readForeignFile } from '../../bin/upkeep/foreign-file.ts';

const wanted = { things: ['id', 'text'], others: ['id'] };
const read = (file: string) => readForeignFile(file, wanted, undefined);

function fileWith(t: TestContext, sql: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-foreign-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.db');
  new Database(file).exec(sql).close();
  return file;
}

test('a foreign file gives the stored columns of its tables, and stays as it is', (t) => {
  const file = fileWith(
    t,
    "CREATE TABLE things (id INTEGER, text TEXT, more TEXT); INSERT INTO things VALUES (1, 'a', 'b'), (2, NULL, 'c')",
  );
  const before = readFileSync(file);
  assert.deepEqual(
    [...read(file)],
    [
      [
        'things',
        {
          columns: ['id', 'text'],
          rows: [
            { id: 1, text: 'a' },
            { id: 2, text: null },
          ],
        },
      ],
    ],
  );
  assert.deepEqual(readFileSync(file), before);
});

test('nothing that a foreign file would compute is read', (t) => {
  const endless =
    'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n';
  const file = fileWith(
    t,
    `CREATE TABLE things (id INTEGER, text TEXT AS (hex(zeroblob(1000000)))); INSERT INTO things (id) VALUES (1);
     CREATE VIEW others AS ${endless}`,
  );
  assert.deepEqual([...read(file)], [['things', { columns: ['id'], rows: [{ id: 1 }] }]]);
});

test('a foreign file is refused with its cause', async (t) => {
  const many = 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 5001)';
  const start = 'CREATE TABLE things (id INTEGER, text TEXT);';
  const damaged = fileWith(
    t,
    `${start} INSERT INTO things ${many} SELECT id, hex(zeroblob(20)) FROM n`,
  );
  const bytes = readFileSync(damaged);
  truncateSync(damaged, bytes.length / 2);
  const noise = fileWith(t, start);
  writeFileSync(noise, 'SQLite format 3\0'.padEnd(8_192, 'x'));
  const refusals: readonly (readonly [string, RegExp])[] = [
    [join(damaged, '..', 'none.db'), /none\.db cannot be read as an SQLite database/],
    [damaged, /cannot be read as an SQLite database: .*malformed/],
    [noise, /cannot be read as an SQLite database/],
    [
      fileWith(t, `${start} INSERT INTO things ${many} SELECT id, '' FROM n`),
      /The table things of .* has more than 5000 rows/,
    ],
    [
      fileWith(t, `${start} INSERT INTO things VALUES (1, hex(zeroblob(100001)))`),
      /The table things of .* has a value of more than 200 kB/,
    ],
  ];
  for (const [file, message] of refusals) {
    await t.test(String(message), () => assert.throws(() => read(file), { message }));
  }
});
