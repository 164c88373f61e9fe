import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { createBackup, verifyBackup } from '../../bin/upkeep/backup/backup.ts';
import { restoreBackup } from '../../bin/upkeep/backup/restore.ts';
import { move, type Moved } from '../../bin/upkeep/move/move.ts';
import type { Storage } from '../../core/storage/index.ts';
import { programOf } from '../program-of.ts';
import { inFolder, openIn } from '../storage/folder.ts';
import { ask, newDatabase } from './cluster.ts';
import { contentOf, fill, migrations, tablesOf } from './contents.ts';

const product = { version: '1.0.0', root: '' };

interface House {
  readonly dataDir: string;
  readonly url: string;
  open(databaseUrl: string | undefined): Promise<Storage>;
  move(to: 'postgres' | 'folder', told?: string[]): Promise<Moved>;
}

/** A data folder with rows, and an empty database of Postgres. */
async function withHouse(
  t: TestContext,
  { name, many }: { readonly name: string; readonly many: number },
  work: (house: House) => Promise<void>,
): Promise<void> {
  const url = await newDatabase(t, name);
  if (url === undefined) {
    return;
  }
  await inFolder(async (dir) => {
    const dataDir = join(dir, 'data');
    const open = async (databaseUrl: string | undefined): Promise<Storage> => {
      const storage = await openIn(dataDir, { databaseUrl });
      await storage.migrate('notes', migrations);
      return storage;
    };
    const first = await openIn(dataDir, { databaseUrl: undefined });
    await fill(first, many);
    await first.close();
    await work({
      dataDir,
      url,
      open,
      move: (to, told = []) =>
        move({
          dataDir,
          product,
          from: to === 'postgres' ? undefined : url,
          to: to === 'postgres' ? url : undefined,
          tell: (sentence) => void told.push(sentence),
        }),
    });
  });
}

async function contentIn(house: House, databaseUrl: string | undefined): Promise<unknown> {
  const storage = await house.open(databaseUrl);
  try {
    return await contentOf(storage);
  } finally {
    await storage.close();
  }
}

test('there and back, every row is the same, numbers go on, and triggers refuse', (t) =>
  withHouse(t, { name: 'there_and_back', many: 1_200 }, async (house) => {
    const before = await contentIn(house, undefined);
    const there = await house.move('postgres');
    assert.equal(there.isComplete, true);
    assert.deepEqual(
      there.tables
        .filter(({ table }) => table.startsWith('notes_'))
        .map(({ table, rows }) => [table, rows]),
      [
        ['notes_book', 3],
        ['notes_note', 1_204],
        ['notes_trail', 2],
      ],
    );
    await assert.rejects(house.open(undefined), /was moved to .*there_and_back/);

    const storage = await house.open(house.url);
    assert.deepEqual(await contentOf(storage), before);
    const { write } = tablesOf(storage);
    await assert.rejects(
      write((tx) => tx.updateTable('notes_trail').set({ text: 'other' }).execute()),
      /a row of the trail is never changed/,
    );
    await assert.rejects(
      write((tx) => tx.insertInto('notes_trail').values({ seq: 20, text: 'far' }).execute()),
      /the trail grows at its end/,
    );
    await write((tx) => tx.insertInto('notes_trail').values({ seq: 9, text: 'nine' }).execute());
    const { id } = await write((tx) =>
      tx
        .insertInto('notes_book')
        .values({ title: 'five' } as never)
        .returning('id')
        .executeTakeFirstOrThrow(),
    );
    assert.equal(id, 5, 'the number of a row that is gone was not given again');
    const changed = await contentOf(storage);
    await storage.close();

    const back = await house.move('folder');
    assert.equal(back.isComplete, true);
    await assert.rejects(house.open(house.url), /was moved to .*svc\.db/);
    const again = await house.open(undefined);
    assert.deepEqual(await contentOf(again), changed);
    await assert.rejects(
      tablesOf(again).write((tx) => tx.updateTable('notes_trail').set({ text: 'other' }).execute()),
      /a row of the trail is never changed/,
    );
    await tablesOf(again).write((tx) => tx.deleteFrom('notes_book').where('id', '=', 5).execute());
    const six = await tablesOf(again).write((tx) =>
      tx
        .insertInto('notes_book')
        .values({ title: 'six' } as never)
        .returning('id')
        .executeTakeFirstOrThrow(),
    );
    assert.equal(six.id, 6);
    await again.close();
    assert.ok(readdirSync(house.dataDir).some((name) => name.startsWith('before-move-')));
  }));

test('while svc runs, everything until now is copied; what changed since comes when it has stopped', (t) =>
  withHouse(t, { name: 'while_it_runs', many: 2_000 }, async (house) => {
    const storage = await house.open(undefined);
    const first = await house.move('postgres');
    assert.equal(first.isComplete, false);
    await tablesOf(storage).write(async (tx) => {
      await tx
        .updateTable('notes_note')
        .set({ text: 'changed' })
        .where('name', '=', 'note 7')
        .execute();
      await tx.deleteFrom('notes_note').where('name', 'in', ['note 8', 'note 1999']).execute();
      await tx.deleteFrom('notes_book').where('id', '=', 1).execute();
      await tx
        .insertInto('notes_book')
        .values({ title: 'new' } as never)
        .execute();
      // Each takes the title of the other.
      await tx
        .updateTable('notes_book')
        .set({ title: 'tmp' })
        .where('title', '=', 'beta')
        .execute();
      await tx
        .updateTable('notes_book')
        .set({ title: 'beta' })
        .where('title', '=', 'Straße 🚲')
        .execute();
      await tx
        .updateTable('notes_book')
        .set({ title: 'Straße 🚲' })
        .where('title', '=', 'tmp')
        .execute();
    });
    const after = await contentOf(storage);
    await storage.close();
    assert.equal((await house.move('postgres')).isComplete, true);
    assert.deepEqual(await contentIn(house, house.url), after);
  }));

test('a few changes are a few rows to write', (t) =>
  withHouse(t, { name: 'few_changes', many: 2_000 }, async (house) => {
    const storage = await house.open(undefined);
    await house.move('postgres');
    await tablesOf(storage).write((tx) =>
      tx.updateTable('notes_note').set({ text: 'changed' }).where('name', '=', 'note 7').execute(),
    );
    await storage.close();
    const told: string[] = [];
    await house.move('postgres', told);
    assert.deepEqual(told, ['notes_note: 1 of 2004 rows written']);
  }));

test('kill -9 on the way: the next call goes on, and the end is complete', (t) =>
  withHouse(t, { name: 'killed', many: 20_000 }, async (house) => {
    const before = await contentIn(house, undefined);
    const child = fileURLToPath(new URL('./moving-child.ts', import.meta.url));
    const there = async (): Promise<number> =>
      Number(
        (
          await ask<{ n: string }>(
            house.url,
            'select count(*) as n from svc_moving.notes_note',
          ).catch(() => [{ n: '0' }])
        )[0]!.n,
      );
    let seen = 0;
    for (const share of [0.1, 0.4]) {
      const mover = spawn(process.execPath, [...programOf(child), house.dataDir, house.url], {
        stdio: 'inherit',
      });
      const gone = once(mover, 'exit');
      while (mover.exitCode === null && (await there()) < 20_000 * share) {
        await pause(1);
      }
      mover.kill('SIGKILL');
      await gone;
      const now = await there();
      assert.ok(now >= seen, `${now} rows are there, of which ${seen} were before`);
      seen = now;
      assert.equal(
        (await ask(house.url, "select from pg_namespace where nspname = 'svc'")).length,
        0,
      );
    }
    const told: string[] = [];
    assert.equal((await house.move('postgres', told)).isComplete, true);
    // What was under way when the mover was killed may have come to its end after that.
    const [, written = '0'] = /notes_note: (\d+) of 20004/.exec(told.join('\n')) ?? [];
    assert.ok(Number(written) <= 20_004 - seen, `${written} were written, ${seen} were there`);
    assert.deepEqual(await contentIn(house, house.url), before);
  }));

test('a row that is altered on the way is noticed, and the source stays what it was', (t) =>
  withHouse(t, { name: 'altered', many: 10 }, async (house) => {
    const before = await house.open(undefined);
    await house.move('postgres');
    await tablesOf(before).write((tx) =>
      tx.updateTable('notes_note').set({ text: 'changed' }).where('name', '=', 'note 7').execute(),
    );
    const content = await contentOf(before);
    await before.close();
    await ask(
      house.url,
      `create function svc_moving.alter_it() returns trigger language plpgsql as $$ begin new.text := 'altered'; return new; end $$;
       create trigger alter_it before insert or update on svc_moving.notes_note for each row execute function svc_moving.alter_it()`,
    );
    await assert.rejects(
      house.move('postgres'),
      /table notes_note .*differs.*a value in its 14 rows/,
    );
    assert.deepEqual(await contentIn(house, undefined), content);
    assert.equal(
      (await ask(house.url, "select from pg_namespace where nspname = 'svc'")).length,
      0,
    );
    await ask(house.url, 'drop trigger alter_it on svc_moving.notes_note');
    assert.equal((await house.move('postgres')).isComplete, true);
    assert.deepEqual(await contentIn(house, house.url), content);
  }));

test('a target that holds data of svc is left alone', (t) =>
  withHouse(t, { name: 'taken', many: 0 }, async (house) => {
    const other = await openIn(join(house.dataDir, '..', 'other'), { databaseUrl: house.url });
    await other.close();
    await assert.rejects(house.move('postgres'), /already holds data of svc: name another schema/);
    assert.equal(existsSync(join(house.dataDir, 'svc.db.moved')), false);
  }));

test('a backup of Postgres is like any other, and goes back into Postgres or into a folder', (t) =>
  withHouse(t, { name: 'backed_up', many: 700 }, async (house) => {
    await house.move('postgres');
    const storage = await house.open(house.url);
    const backup = join(house.dataDir, '..', 'backup');
    const { dataDir, url: databaseUrl } = house;
    const manifest = await createBackup(backup, { dataDir, product, databaseUrl, withKey: true });
    assert.equal(manifest.tables['notes_note'], 704);
    assert.deepEqual(await verifyBackup(backup, product), manifest);
    const then = await contentOf(storage);
    await tablesOf(storage).write((tx) => tx.deleteFrom('notes_note').execute());
    await storage.close();

    const restored = await restoreBackup(backup, dataDir, product, { databaseUrl });
    assert.deepEqual(await contentIn(house, databaseUrl), then);
    const [kept] = await ask<{ n: string }>(
      databaseUrl,
      `select count(*) as n from ${restored.asideSchema!}.notes_note`,
    );
    assert.equal(kept!.n, '0');

    const elsewhere = join(house.dataDir, '..', 'elsewhere');
    await restoreBackup(backup, elsewhere, product);
    const plain = await openIn(elsewhere, { databaseUrl: undefined });
    await plain.migrate('notes', migrations);
    assert.deepEqual(await contentOf(plain), then);
    await plain.close();
  }));
