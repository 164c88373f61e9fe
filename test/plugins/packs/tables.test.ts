import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import Database from 'better-sqlite3';

import { isSvcError } from '../../../core/sdk/index.ts';
import { PackTables } from '../../../plugins/packs/tables/pack-tables.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-pack-tables-'));
after(() => rmSync(home, { recursive: true, force: true }));

let files = 0;
const create = {
  name: '001-notes.sql',
  sql: 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT;',
};
const fileNow = (): string => join(home, `tables-${(files += 1)}.db`);
const open = (
  file: string,
  migrations: readonly { name: string; sql: string }[] = [create],
  maxMb = 1,
): PackTables => new PackTables({ file, maxMb, migrations });

const refused = (message: RegExp) => (error: unknown) => {
  assert.ok(isSvcError(error) && error.code === 'invalid_argument', String(error));
  assert.match(error.message, message);
  return true;
};

test('rows are written and read with values, a batch is all or nothing, and what was written stays', () => {
  const file = fileNow();
  const tables = open(file);
  assert.deepEqual(tables.run(['insert into notes (text) values (?)', "it's"]), {
    changes: 1,
    lastId: 1,
  });
  assert.throws(
    () =>
      tables.batch([
        ['insert into notes (text) values (?)', 'two'],
        ['insert into nowhere values (1)'],
      ]),
    refused(/no such table: nowhere/),
  );
  tables.batch([
    ['insert into notes (text) values (?)', 'two'],
    ['update notes set text = ? where id = ?', null, 1],
  ]);
  tables.close();
  const again = open(file);
  assert.deepEqual(again.all(['select id, text from notes order by id']), [
    { id: 1, text: null },
    { id: 2, text: 'two' },
  ]);
  again.close();
});

test('a migration runs once and in a transaction; one that was changed since is refused', () => {
  const file = fileNow();
  open(file).close();
  const second = { name: '002-more.sql', sql: 'ALTER TABLE notes ADD COLUMN at INTEGER;' };
  assert.throws(
    () => open(file, [create, { ...second, sql: `${second.sql} CREATE TABLE notes (a);` }]),
    /already exists/,
  );
  const tables = open(file, [create, second]);
  assert.deepEqual(tables.all(['select at from notes']), []);
  tables.close();
  assert.throws(
    () => open(file, [{ ...create, sql: `${create.sql} ` }]),
    refused(/001-notes\.sql was changed after it ran/),
  );
});

test('no statement and no migration reaches another file or the settings of the database', () => {
  const [file, out] = [fileNow(), join(home, 'out.db')];
  const secret = join(home, 'secret.db');
  new Database(secret).exec('CREATE TABLE keys (k TEXT)').close();
  const tables = open(file);
  const attempts = [
    `ATTACH DATABASE '${secret}' AS s`,
    `/* x */ ATTACH '${secret}' AS s`,
    `-- select\nATTACH '${secret}' AS s`,
    `select 1; ATTACH '${secret}' AS s`,
    `VACUUM INTO '${out}'`,
    'PRAGMA database_list',
    'select * from pragma_database_list',
    'PRAGMA writable_schema = ON',
    "select load_extension('/lib/x86_64-linux-gnu/libc.so.6')",
    'CREATE TABLE x (a)',
    'DROP TABLE notes',
    'BEGIN',
    'COMMIT',
    'update sqlite_schema set sql = null',
    'delete from svc_migrations',
    'CREATE VIRTUAL TABLE v USING fts5(a)',
    'EXPLAIN select 1',
    'select 1; select 2',
    '',
  ];
  for (const sql of attempts) {
    assert.throws(() => tables.run([sql]), refused(/./), sql);
    assert.throws(() => tables.all([sql]), refused(/./), sql);
    assert.throws(() => tables.batch([[sql]]), refused(/./), sql);
  }
  for (const input of [
    undefined,
    [],
    [5],
    ['select ?', {}],
    ['select ?', true],
    'select 1',
    [`select '${'x'.repeat(70_000)}'`],
  ]) {
    assert.throws(() => tables.all(input), refused(/A statement must be a string/));
  }
  tables.close();
  for (const sql of [
    `ATTACH '${secret}' AS s;`,
    `VACUUM INTO '${out}';`,
    'PRAGMA journal_mode = OFF;',
    'COMMIT; CREATE TABLE x (a);',
    'CREATE VIRTUAL TABLE v USING fts5(a);',
  ]) {
    assert.throws(() => open(fileNow(), [{ name: '001.sql', sql }]), refused(/001\.sql/), sql);
  }
  assert.equal(existsSync(out), false);
});

test('tables grow to their size and no further, and an answer has a bounded number of rows', () => {
  const tables = open(fileNow());
  const fill = (): void => {
    for (let round = 0; round < 100; round += 1) {
      tables.run(['insert into notes (text) values (?)', 'x'.repeat(60_000)]);
    }
  };
  assert.throws(fill, refused(/database or disk is full/));
  tables.run(['delete from notes']);
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n';
  assert.throws(() => tables.all([endless]), refused(/may return at most 10000 rows/));
  assert.deepEqual(tables.all(['select 1 as one']), [{ one: 1 }], 'and goes on');
  tables.close();
});
