import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3';
import { sql } from 'kysely';

import { loadMigrations } from '../../core/storage/index.ts';
import { inFolder, openIn, startWriter, withStorage } from './folder.ts';
import { migrationsOfChild } from './child-migrations.ts';
import { programOf } from '../program-of.ts';

const first = {
  name: '001-init.sql',
  sql: 'create table notes_note (id integer primary key, text text not null) strict',
};
const second = {
  name: '002-more.sql',
  sql: "alter table notes_note add column author text not null default ''; update notes_note set author = 'nobody'",
};

async function columns(storage: Awaited<ReturnType<typeof openIn>>): Promise<string[]> {
  const { rows } = await sql<{
    name: string;
  }>`select name from pragma_table_info('notes_note')`.execute(
    storage.tables<object>('notes').read,
  );
  return rows.map(({ name }) => name);
}

test('migrations run once, in order, each with the row that says so', () =>
  withStorage(async (storage) => {
    await storage.migrate('notes', [first]);
    await storage.migrate('notes', [first]);
    await storage.migrate('notes', [first, second]);
    assert.deepEqual(await columns(storage), ['id', 'text', 'author']);
    const rows = await storage
      .core()
      .read.selectFrom('core_migrations')
      .select(['number', 'name', 'app_version'])
      .where('plugin', '=', 'notes')
      .execute();
    assert.deepEqual(rows, [
      { number: 1, name: '001-init.sql', app_version: '1.0.0' },
      { number: 2, name: '002-more.sql', app_version: '1.0.0' },
    ]);
  }));

test('a migration that fails leaves nothing behind and can be run again', () =>
  withStorage(async (storage) => {
    const broken = {
      name: '002-more.sql',
      sql: 'alter table notes_note add column author text; insert into notes_note (nonsense) values (1)',
    };
    await assert.rejects(
      storage.migrate('notes', [first, broken]),
      /Migration 002-more.sql of notes failed and was rolled back: .*nonsense/,
    );
    assert.deepEqual(await columns(storage), ['id', 'text']);
    await storage.migrate('notes', [first, second]);
    assert.deepEqual(await columns(storage), ['id', 'text', 'author']);
  }));

const refused: [string, string, RegExp][] = [
  [
    '001-x.sql',
    'create table notes_x (id integer primary key)',
    /Table notes_x must be declared STRICT/,
  ],
  [
    '001-x.sql',
    'create table other_x (id integer primary key) strict',
    /name other_x must begin with notes_/,
  ],
  ['001-x.sql', 'create view other_v as select 1', /name other_v must begin with notes_/],
  ['001-x.sql', 'drop table notes_note', /removes or renames/],
  ['001-x.sql', 'ALTER/**/TABLE "notes_note" DROP COLUMN text', /removes or renames/],
  ['001-x.sql', 'alter table notes_note rename to notes_other', /removes or renames/],
  ['001-x.sql', 'alter table notes_note rename column text to words', /removes or renames/],
  [
    '001-x.sql',
    'create table notes_x (id integer primary key) strict; commit',
    /"commit" is not for migrations/,
  ],
  ['001-x.sql', 'pragma foreign_keys = off', /is not for migrations/],
  ['001-x.sql', "attach '/tmp/x.db' as x", /is not for migrations/],
  ['001-x.sql', 'create temp table notes_x (id integer) strict', /is not for migrations/],
  ['001-x.sql', 'vacuum', /is not for migrations/],
  ['001-x.sql', 'create table notes_x (a integer unique on conflict rollback) strict', /use ABORT/],
  [
    '001-x.sql',
    'create table notes_x (a integer references notes_note (id) deferrable initially deferred) strict',
    /immediate foreign key/,
  ],
  [
    '001-x.sql',
    'insert into core_outbox select * from core_outbox',
    /refers to core_outbox, which belongs to another/,
  ],
  [
    '001-x.sql',
    "create view notes_v as select * from 'core_migrations'",
    /refers to core_migrations/,
  ],
  ['001-add-x.sql', "update notes_note set text = ''", /does more than add/],
  [
    '001-add-x.sql',
    'create table notes_x (id integer primary key) strict; insert into notes_x values (1)',
    /"insert into .*does more than add/,
  ],
  ['001-add-x.sql', 'delete from notes_note', /does more than add/],
  ['001-add-x.sql', 'drop index notes_i', /does more than add/],
  ['001-add-x.sql', 'create unique index notes_i on notes_note (text)', /does more than add/],
  ['001-add-x.sql', 'create view notes_v as select 1', /does more than add/],
  [
    '001-add-x.sql',
    'create trigger notes_t after insert on notes_note begin delete from notes_note; end',
    /does more than add/,
  ],
  [
    '001-add-x.sql',
    'create table notes_x (id integer primary key, note integer references notes_note (id)) strict',
    /does more than add/,
  ],
  ['002-x.sql', 'select 1', /should be number 001/],
  ['1-x.sql', 'select 1', /should be number 001/],
  ['001-X y.sql', 'select 1', /should be number 001/],
];

test('what would hurt others, or the version before, is refused with the file and the reason', () =>
  withStorage(async (storage) => {
    for (const [name, text, complaint] of refused) {
      await assert.rejects(storage.migrate('notes', [{ name, sql: text }]), (error: Error) => {
        assert.match(error.message, complaint, text);
        assert.ok(error.message.includes(name), error.message);
        return true;
      });
    }
    await storage.migrate('notes', [first]);
  }));

test('a new plugin cannot take over the tables of another', () =>
  withStorage(async (storage) => {
    await storage.migrate('notes', [
      { name: '001-init.sql', sql: 'create table notes_extra_x (id integer primary key) strict' },
    ]);
    await assert.rejects(
      storage.migrate('notes-extra', [
        { name: '001-init.sql', sql: 'create table notes_extra_y (id integer primary key) strict' },
      ]),
      /notes_extra_x belongs to another plugin/,
    );
  }));

test('tables of another whose name goes on where ours ends are not in the way of a plugin that comes later', () =>
  withStorage(async (storage) => {
    await storage.migrate('notes-extra', [
      { name: '001-init.sql', sql: 'create table notes_extra_y (id integer primary key) strict' },
    ]);
    await storage.migrate('notes', [
      { name: '001-init.sql', sql: 'create table notes_x (id integer primary key) strict' },
    ]);
    await assert.rejects(
      storage.migrate('notes', [
        { name: '001-init.sql', sql: 'create table notes_x (id integer primary key) strict' },
        { name: '002-take.sql', sql: 'drop table notes_extra_y' },
      ]),
    );
  }));

test('whoever keeps data safe is asked before migrations of data that was there, and says how to come back to it', () =>
  inFolder(async (dir) => {
    let asked = 0;
    let wayBack: string | undefined = 'go back';
    const safeguard = { beforeMigration: async () => void (asked += 1), wayBack: () => wayBack };
    let storage = await openIn(dir, { safeguard });
    await storage.migrate('notes', [first]);
    assert.equal(asked, 0, 'new data');
    await storage.close();

    storage = await openIn(dir, { appVersion: '2.0.0', safeguard });
    await storage.migrate('notes', [first]);
    assert.equal(asked, 0, 'nothing is pending');
    const failing = {
      beforeMigration: () => Promise.reject(new Error('no room for a copy')),
      wayBack: () => undefined,
    };
    await storage.close();
    storage = await openIn(dir, { appVersion: '2.0.0', safeguard: failing });
    await assert.rejects(storage.migrate('notes', [first, second]), /no room for a copy/);
    assert.deepEqual(await columns(storage), ['id', 'text'], 'without it nothing is changed');
    await storage.close();
    storage = await openIn(dir, { appVersion: '2.0.0', safeguard });
    await storage.migrate('notes', [first, second]);
    assert.equal(asked, 1);
    await storage.close();

    storage = await openIn(dir, { safeguard });
    const refusal =
      'written by version 2.0.0 (migration 002-more.sql), which is newer than this version, 1.0.0: start version 2.0.0 again, or';
    for (const [way, text] of [
      ['go back', 'go back'],
      [undefined, 'restore a backup of the earlier version'],
    ] as const) {
      wayBack = way;
      await assert.rejects(storage.migrate('notes', [first]), (error: Error) =>
        error.message.endsWith(`${refusal} ${text}.`),
      );
    }
    await storage.close();
  }));

test('a migration that was changed after it was applied is refused with its name', () =>
  withStorage(async (storage) => {
    await storage.migrate('notes', [first]);
    await assert.rejects(
      storage.migrate('notes', [{ ...first, sql: `${first.sql} -- edited` }]),
      /Migration 001-init\.sql of notes differs from 001-init\.sql, which version 1\.0\.0 applied.*as migration 002/,
    );
  }));

test('migrations are read from a folder in order; a plugin without the folder has none', () =>
  inFolder(async (dir) => {
    assert.deepEqual(loadMigrations(join(dir, 'nothing')), []);
    const core = loadMigrations(
      fileURLToPath(new URL('../../core/storage/migrations', import.meta.url)),
    );
    assert.deepEqual(
      core.map(({ name }) => name),
      core.map(({ name }) => name).toSorted(),
    );
    assert.ok(core.length > 0 && core[0]!.sql.includes('core_migrations'));
  }));

function contentOf(folder: string): unknown {
  const database = new Database(join(folder, 'svc.db'), { readonly: true });
  try {
    return [
      database.prepare('select type, name, sql from sqlite_schema order by name').all(),
      database.prepare('select plugin, number, name, sha256 from core_migrations').all(),
      database.prepare('select text, author from notes_note').all(),
    ];
  } finally {
    database.close();
  }
}

async function completed(folder: string): Promise<unknown> {
  const storage = await openIn(folder);
  await storage.migrate('notes', migrationsOfChild);
  await storage.close();
  return contentOf(folder);
}

test('from the files as they are at any step of the migrations, the next start completes them to the same schema', () =>
  inFolder(async (dir) => {
    const live = join(dir, 'live');
    const stops: string[] = [];
    const storage = await openIn(live, {
      startWriter(data) {
        const worker = startWriter(data);
        const post = worker.postMessage.bind(worker);
        worker.postMessage = (message: { kind?: string }) => {
          if (message.kind !== 'close') {
            const stop = join(dir, `stop-${stops.length}`);
            mkdirSync(stop);
            ['svc.db', 'svc.db-wal']
              .filter((name) => existsSync(join(live, name)))
              .forEach((name) => copyFileSync(join(live, name), join(stop, name)));
            cpSync(join(live, 'keys'), join(stop, 'keys'), { recursive: true });
            stops.push(stop);
          }
          post(message);
        };
        return worker;
      },
    });
    await storage.migrate('notes', migrationsOfChild);
    await storage.close();
    const expected = contentOf(live);
    assert.ok(stops.length > 8, `${stops.length} stops`);
    for (const stop of stops) {
      assert.deepEqual(await completed(stop), expected, stop);
    }
  }));

test('kill -9 during the migrations: the next start completes them to the same schema', () =>
  inFolder(async (dir) => {
    const child = fileURLToPath(new URL('./migrating-child.ts', import.meta.url));
    const run = async (folder: string, dieAt: number): Promise<NodeJS.Signals | null> => {
      const [, signal] = (await once(
        spawn(process.execPath, [...programOf(child), folder, String(dieAt)], {
          stdio: 'inherit',
        }),
        'exit',
      )) as [number | null, NodeJS.Signals | null];
      return signal;
    };
    const clean = join(dir, 'clean');
    assert.equal(await run(clean, 0), null);
    await Promise.all(
      [2, 5, 9].map(async (step) => {
        const folder = join(dir, `at-${step}`);
        assert.equal(await run(folder, step), 'SIGKILL');
        assert.deepEqual(await completed(folder), contentOf(clean), `after a kill at step ${step}`);
      }),
    );
  }));
