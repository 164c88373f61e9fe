import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { sql } from 'kysely';

import { AutomaticBackups } from '../../bin/upkeep/backup/automatic-backups.ts';
import { verifyBackup } from '../../bin/upkeep/backup/backup.ts';
import type { Storage } from '../../core/storage/index.ts';
import { inFolder, openIn } from '../storage/folder.ts';

const first = {
  name: '001-init.sql',
  sql: 'create table notes_note (id integer primary key, text text not null) strict',
};
const second = {
  name: '002-more.sql',
  sql: "alter table notes_note add column author text not null default ''; update notes_note set author = 'nobody'",
};
const product = (version: string) => ({ version, root: '' });

/** Storage of a version of svc, as that makes its backups. */
const openAs = (version: string, dir: string): Promise<Storage> =>
  openIn(dir, { appVersion: version, safeguard: new AutomaticBackups(dir, product(version)) });

test('data that was there is backed up, verified, before the first migration of a boot — once', () =>
  inFolder(async (dir) => {
    const backups = (): string[] => readdirSync(join(dir, 'backups'));
    let storage = await openAs('1.0.0', dir);
    await storage.migrate('notes', [first]);
    assert.throws(backups, /ENOENT/, 'new data is not worth a backup');
    await storage
      .tables<object>('notes')
      .write((tx) => sql`insert into notes_note (text) values ('before')`.execute(tx));
    await storage.close();

    storage = await openAs('2.0.0', dir);
    await storage.migrate('notes', [first]);
    assert.throws(backups, /ENOENT/, 'nothing is pending');
    await storage.migrate('notes', [first, second]);
    await storage.migrate('more', [
      { name: '001-init.sql', sql: 'create table more_x (id integer primary key) strict' },
    ]);
    assert.equal(backups().length, 1);
    assert.match(backups()[0]!, /-before-2\.0\.0$/);
    const manifest = await verifyBackup(join(dir, 'backups', backups()[0]!), product('2.0.0'));
    assert.deepEqual(manifest.tables, {
      core_idempotency: 0,
      core_migrations: 3,
      core_outbox: 0,
      core_sealed_columns: 0,
      core_superseded_keys: 0,
      notes_note: 1,
    });
    await storage.close();
  }));

test('the last three automatic backups are kept', () =>
  inFolder(async (dir) => {
    for (let boot = 0; boot < 6; boot++) {
      const storage = await openAs(`${boot}.0.0`, dir);
      await storage.migrate(`p${boot}`, [
        { name: '001-init.sql', sql: `create table p${boot}_x (id integer primary key) strict` },
      ]);
      await storage.close();
    }
    assert.deepEqual(
      readdirSync(join(dir, 'backups')).map((name) => name.replace(/.*-before-/, '')),
      ['3.0.0', '4.0.0', '5.0.0'],
    );
  }));

test('data of a newer version is refused with that version and the way back', () =>
  inFolder(async (dir) => {
    let storage = await openAs('1.0.0', dir);
    await storage.migrate('notes', [first]);
    await storage.close();
    storage = await openAs('2.0.0', dir);
    await storage.migrate('notes', [first, second]);
    await storage.close();
    storage = await openAs('1.0.0', dir);
    await assert.rejects(
      storage.migrate('notes', [first]),
      /The data of notes was written by version 2\.0\.0 \(migration 002-more\.sql\), which is newer than this version, 1\.0\.0: start version 2\.0\.0 again, or restore the backup .*-before-2\.0\.0/,
    );
    await storage.close();
  }));
