import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { sql } from 'kysely';

import { names, statements } from '../../core/storage/engine/sql-text.ts';
import { withStorage } from './folder.ts';

const migrations = {
  alert: `
    create table alert_rule (id integer primary key, name text) strict;
    create index alert_by_name on alert_rule (name);
    create table alert_slot (k text primary key, v text) strict, without rowid;
    create virtual table alert_text using fts5 (body);
    create view alert_view as select * from alert_rule`,
  'alert-extra': 'create table alert_extra_thing (id integer primary key) strict',
  iam: `
    create table iam_user (id integer primary key autoincrement, name text) strict;
    create table iam_session (id integer primary key, user integer references iam_user (id) on delete cascade) strict;
    create view iam_named as select * from iam_user where name is not null;
    create virtual table iam_text using fts5 (body);
    create trigger iam_gone after delete on iam_user begin delete from iam_session where user = old.id; end`,
};

const attempts: [string, RegExp][] = [
  ['select * from alert_rule', /touches alert_rule/],
  ['select count(*) from alert_rule', /touches alert_rule/],
  ["select * from 'alert_rule'", /touches alert_rule/],
  ['select * from "ALERT_RULE"', /touches alert_rule/],
  ['select * from [alert_rule]', /touches alert_rule/],
  ['select name from alert_view', /touches alert_rule/],
  ['select * from iam_user where exists (select 1 from alert_slot)', /touches alert_slot/],
  ['with r as (select * from alert_rule) select * from r', /touches alert_rule/],
  ['insert into iam_user (name) select name from alert_rule', /touches alert_rule/],
  ['delete from alert_rule', /touches alert_rule/],
  ['delete from alert_slot', /touches alert_slot/],
  ['update alert_rule set name = null', /touches alert_rule/],
  ['select * from alert_text', /touches alert_text/],
  ["insert into alert_text (body) values ('x')", /touches alert_text/],
  ['select * from alert_text_data', /touches alert_text_data/],
  ['select * from core_migrations', /touches core_migrations/],
  ['delete from sqlite_sequence', /touches sqlite_sequence/],
  ['drop table iam_user', /a schema changes by migrations/],
  ['/* select */ create table iam_more (id integer) strict', /a schema changes by migrations/],
  ['-- select\npragma query_only = off', /a schema changes by migrations/],
  ["attach '/tmp/x.db' as x", /a schema changes by migrations/],
  ['commit', /a transaction is write\(\)/],
  ['savepoint x', /a transaction is write\(\)/],
  ["insert or rollback into iam_user (name) values ('x')", /or rollback/],
  ['', /only select/],
];

const permitted = [
  'select * from iam_user',
  'select * from iam_named',
  'select name from sqlite_schema',
  'select value from json_each(\'["alert_rule"]\')',
  "insert into iam_user (name) values ('alert_rule')",
  'delete from iam_user where id = 1',
  "insert into iam_text (body) values ('x')",
  "select * from iam_text where iam_text match 'x'",
  'with recursive n (i) as (values (1) union all select i + 1 from n where i < 3) select i from n',
];

test('a plugin reaches its own tables and no other, however the statement is written', () =>
  withStorage(async (storage) => {
    for (const [owner, script] of Object.entries(migrations)) {
      await storage.migrate(owner, [{ name: '001-init.sql', sql: script }]);
    }
    const iam = storage.tables<object>('iam');
    for (const [text, complaint] of attempts) {
      for (let time = 0; time < 2; time++) {
        await assert.rejects(sql.raw(text).execute(iam.read), complaint, `read: ${text}`);
        await assert.rejects(
          iam.write((tx) => sql.raw(text).execute(tx)),
          complaint,
          `write: ${text}`,
        );
      }
    }
    for (const text of permitted) {
      await iam.write((tx) => sql.raw(text).execute(tx));
    }
  }));

test('a shorter id does not own what a longer one does', () =>
  withStorage(async (storage) => {
    for (const owner of ['alert', 'alert-extra'] as const) {
      await storage.migrate(owner, [{ name: '001-init.sql', sql: migrations[owner] }]);
    }
    await assert.rejects(
      sql`select * from alert_extra_thing`.execute(storage.tables<object>('alert').read),
      /touches alert_extra_thing/,
    );
    await sql`select * from alert_extra_thing`.execute(storage.tables<object>('alert-extra').read);
  }));

test('the tables of the host belong to nobody else', () =>
  withStorage(async (storage) => {
    for (const id of ['core', 'sqlite', 'Core', 'a b', 'x_y', '']) {
      assert.throws(() => storage.tables(id), /cannot own tables/);
      await assert.rejects(storage.migrate(id, []), /cannot own tables/);
    }
  }));

test('more than one statement in a text is refused', () =>
  withStorage(async (storage) => {
    await assert.rejects(
      sql.raw('select 1; select 2').execute(storage.tables<object>('iam').read),
      /more than one statement/,
    );
  }));

test('every way to write a name is found in a text', () => {
  const ways = [
    (name: string) => name,
    (name: string) => name.toUpperCase(),
    (name: string) => `"${name}"`,
    (name: string) => `'${name}'`,
    (name: string) => `\`${name}\``,
    (name: string) => `[${name}]`,
  ];
  const around = fc.constantFrom(
    ' ',
    '\n',
    "/* it's */",
    '-- "quoted\n',
    ',',
    '(',
    ')',
    '.',
    '=',
    "''",
    '""',
    "'it''s'",
    '?1',
    ':a',
    '\uFEFF',
    "x'00'",
    '1e5',
    ';',
  );
  fc.assert(
    fc.property(
      fc.array(around),
      fc.constantFrom(...ways),
      fc.array(around),
      (before, way, after) => {
        const text = `${before.join('')} ${way('iam_user')} ${after.join('')}`;
        assert.ok([...names(text)].includes('iam_user'), text);
      },
    ),
  );
});

test('a script falls into its statements, triggers whole', () => {
  const script = `
    create table a (x text default ';'); -- one; still one
    create trigger t after insert on a begin
      update a set x = case when 1 then ';' end;
      delete from a; /* end; */
    end;
    insert into a values ('end;')`;
  assert.deepEqual(
    statements(script).map(({ text }) => text.slice(0, 14)),
    ['create table a', 'create trigger', 'insert into a '],
  );
});
