import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Beginning } from '../../core/storage/index.ts';
import { inFolder, openIn } from './folder.ts';

const notes: Beginning = {
  owner: 'notes',
  migrations: [
    {
      name: '001-init.sql',
      sql: 'create table notes_note (id integer primary key, text text not null) strict',
    },
    { name: '002-first.sql', sql: "insert into notes_note (text) values ('the first')" },
  ],
};
const broken: Beginning = {
  owner: 'broken',
  migrations: [
    { name: '001-init.sql', sql: 'create table broken_one (id integer primary key) strict' },
    { name: '002-more.sql', sql: 'insert into broken_one (nonsense) values (1)' },
  ],
};

const onSqlite = { skip: process.env['SVC_TEST_DATABASE'] === 'postgres' && 'it is about a file' };

async function applied(storage: Awaited<ReturnType<typeof openIn>>): Promise<string[]> {
  const rows = await storage
    .core()
    .read.selectFrom('core_migrations')
    .select(['plugin', 'name'])
    .where('plugin', '!=', 'core')
    .orderBy('plugin')
    .orderBy('number')
    .execute();
  return rows.map(({ plugin, name }) => `${plugin} ${name}`);
}

test(
  'a new file has the tables of all owners, and each finds its own when it comes',
  onSqlite,
  () =>
    inFolder(async (dir) => {
      const storage = await openIn(dir, { beginnings: () => [notes] });
      assert.deepEqual(await applied(storage), ['notes 001-init.sql', 'notes 002-first.sql']);
      await storage.migrate('notes', notes.migrations);
      const { read } = storage.tables<{ notes_note: { id: number; text: string } }>('notes');
      assert.deepEqual(await read.selectFrom('notes_note').selectAll().execute(), [
        { id: 1, text: 'the first' },
      ]);
      await storage.close();
      assert.equal(existsSync(join(dir, 'svc.db.tmp')), false);
    }),
);

test('what fails there is left to its owner, whose own turn says why', onSqlite, () =>
  inFolder(async (dir) => {
    const storage = await openIn(dir, { beginnings: () => [broken, notes] });
    assert.deepEqual(await applied(storage), [
      'broken 001-init.sql',
      'notes 001-init.sql',
      'notes 002-first.sql',
    ]);
    await assert.rejects(
      storage.migrate('broken', broken.migrations),
      /Migration 002-more\.sql of broken failed and was rolled back/,
    );
    await storage.close();
  }),
);

test('a file that is there is left as it is', onSqlite, () =>
  inFolder(async (dir) => {
    await (await openIn(dir)).close();
    const storage = await openIn(dir, {
      beginnings: () => assert.fail('the tables of a file that is there are not asked for'),
    });
    assert.deepEqual(await applied(storage), []);
    await storage.close();
  }),
);

test('the log of a file that is gone is not played into a new one', onSqlite, () =>
  inFolder(async (dir) => {
    const before = await openIn(dir);
    await before.migrate('notes', notes.migrations);
    copyFileSync(join(dir, 'svc.db-wal'), join(dir, 'kept'));
    await before.close();
    renameSync(join(dir, 'svc.db'), join(dir, 'elsewhere'));
    renameSync(join(dir, 'kept'), join(dir, 'svc.db-wal'));
    const storage = await openIn(dir, { beginnings: () => [notes] });
    assert.deepEqual(await applied(storage), []);
    await storage.migrate('notes', notes.migrations);
    await storage.close();
  }),
);
