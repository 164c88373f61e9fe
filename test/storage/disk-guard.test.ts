import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { DiskGuard } from '../../core/storage/disk/disk-guard.ts';
import { inFolder, type Notes, notesMigration, openIn, silent, withStorage } from './folder.ts';

const endless = Number.MAX_SAFE_INTEGER;

test('below the floor reads go on and writes are refused with the reason; what frees space is let through', () =>
  inFolder(async (dir) => {
    const roomy = await openIn(dir);
    await roomy.migrate('notes', [notesMigration]);
    await roomy
      .tables<Notes>('notes')
      .write((tx) => tx.insertInto('notes_note').values({ id: 1, text: 'kept' }).execute());
    await roomy.close();

    const storage = await openIn(dir, { disk: { readOnlyBelowBytes: endless } });
    const notes = storage.tables<Notes>('notes');
    const drop = (): Promise<unknown> => notes.write((tx) => tx.deleteFrom('notes_note').execute());
    assert.match(
      storage.writable()!,
      /is read-only because only \d+ MiB are free: free some space there; writes then resume by themselves/,
    );
    assert.deepEqual(storage.disk(), { ok: false, detail: storage.writable() });
    await assert.rejects(drop(), {
      code: 'unavailable',
      message: `Writes are not accepted at the moment: ${storage.writable()!}`,
    });
    assert.equal((await notes.read.selectFrom('notes_note').selectAll().execute()).length, 1);
    await storage.reclaim(drop);
    assert.equal((await notes.read.selectFrom('notes_note').selectAll().execute()).length, 0);
    await storage.close();
  }));

test('health warns while there still is space, and says nothing when there is plenty', async () => {
  await withStorage(
    async (storage) => assert.match(storage.disk().detail!, /^\d+ MiB free under /),
    { disk: { lowBelowBytes: endless } },
  );
  await withStorage(async (storage) => assert.equal(storage.disk().ok, true));
});

test('the ballast is laid in the background, has its size, and comes back when somebody removes it', () =>
  inFolder(async (dir) => {
    const storage = await openIn(dir, { disk: { ballastBytes: 3_000_000, everyMs: 20 } });
    const ballast = join(dir, 'ballast');
    const laid = async (): Promise<void> => {
      for (let tries = 0; !(existsSync(ballast) && statSync(ballast).size === 3_000_000); tries++) {
        assert.ok(tries < 500, 'the ballast never came');
        await pause(20);
      }
    };
    await laid();
    rmSync(ballast);
    await laid();
    await storage.close();
  }));

test('space is set aside without being written, and taken from the disk all the same', () =>
  inFolder(async (dir) => {
    const written = (): number =>
      Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const before = written();
    const guard = await DiskGuard.open(
      dir,
      { readOnlyBelowBytes: 0, lowBelowBytes: endless },
      silent,
      async () => {},
    );
    await guard.stop();
    assert.ok(written() - before < 100_000);
    for (const [name, mebibytes] of Object.entries({ ballast: 64, 'start-reserve': 8 })) {
      const { size, blocks, mode } = statSync(join(dir, name));
      assert.equal(size, mebibytes * 1024 * 1024);
      assert.ok(blocks * 512 >= size, `${name} has its space`);
      assert.equal(mode & 0o777, 0o600);
    }
  }));

test('where nothing sets space aside the reserve of a start is written at once, and the ballast when the disk fills', () =>
  inFolder(async (dir) => {
    const { PATH } = process.env;
    process.env['PATH'] = dir;
    try {
      for (const lowBelowBytes of [0, endless]) {
        const guard = await DiskGuard.open(
          dir,
          {
            readOnlyBelowBytes: 0,
            lowBelowBytes,
            ballastBytes: 3_000_000,
            startReserveBytes: 1_000,
          },
          silent,
          async () => {},
        );
        await guard.stop();
        assert.equal(statSync(join(dir, 'start-reserve')).size, 1_000);
        const isLow = guard.warning !== undefined;
        assert.equal(existsSync(join(dir, 'ballast')), isLow);
        assert.ok(isLow || lowBelowBytes === 0);
      }
      assert.equal(statSync(join(dir, 'ballast')).size, 3_000_000);
    } finally {
      process.env['PATH'] = PATH;
    }
  }));

test('a disk that is full ends writing at once, trims, and gives the ballast up', () =>
  inFolder(async (dir) => {
    let trims = 0;
    const guard = await DiskGuard.open(
      dir,
      { readOnlyBelowBytes: 0, ballastBytes: 1_000, everyMs: 3_600_000 },
      silent,
      async () => void (trims += 1),
    );
    await guard.check();
    assert.ok(existsSync(join(dir, 'ballast')));
    guard.report('SQLITE_CONSTRAINT_UNIQUE');
    assert.equal(guard.refusal, undefined);
    guard.report('SQLITE_FULL');
    assert.match(guard.refusal!, /read-only because the disk is full/);
    assert.ok(!existsSync(join(dir, 'ballast')));
    assert.equal(trims, 1);
    await guard.check();
    assert.equal(guard.refusal, undefined);
    assert.equal(statSync(join(dir, 'ballast')).size, 1_000);
    await guard.stop();
  }));

test('after an input/output error nothing is written until the disk stores a probe and the log, and damage stays', () =>
  inFolder(async (dir) => {
    let trims = 0;
    const guard = await DiskGuard.open(
      dir,
      { readOnlyBelowBytes: 0, ballastBytes: 0, everyMs: 3_600_000 },
      silent,
      async (checked) => {
        trims += 1;
        if (trims === 1 || (checked && trims < 5)) {
          throw new Error('SQLITE_IOERR_FSYNC');
        }
      },
    );
    guard.report('SQLITE_IOERR_FSYNC');
    assert.match(
      guard.refusal!,
      /SQLite reported SQLITE_IOERR_FSYNC: check the disk, writes resume by themselves once it works/,
    );
    // A folder in its place, so that the probe cannot be stored.
    mkdirSync(join(dir, 'probe'));
    await guard.check();
    assert.equal(trims, 0);
    rmSync(join(dir, 'probe'), { recursive: true });
    await guard.check();
    assert.match(guard.refusal!, /SQLITE_IOERR_FSYNC/, 'the log could not be stored');
    await guard.check();
    assert.equal(guard.refusal, undefined);
    assert.ok(!existsSync(join(dir, 'probe')));

    guard.report('SQLITE_IOERR_READ');
    guard.report('SQLITE_CORRUPT');
    for (let look = 0; look < 3; look++) {
      await guard.check();
      assert.match(guard.refusal!, /SQLITE_CORRUPT: check the disk, then start svc again/);
    }
    assert.equal(trims, 3, 'the whole file is read now and then');
    await guard.stop();
  }));

test('damage that a read meets ends writing, and what is not damaged still reads', () =>
  inFolder(async (dir) => {
    const before = await openIn(dir);
    await before.migrate('notes', [notesMigration]);
    await before.tables<Notes>('notes').write((tx) =>
      tx
        .insertInto('notes_note')
        .values(
          Array.from({ length: 500 }, (_, index) => ({
            id: index + 1,
            text: `${index} ${'x'.repeat(400)}`,
          })),
        )
        .execute(),
    );
    await before.close();
    const storage = await openIn(dir);
    // While it is open: at a start, a page that changed is told.
    const file = join(dir, 'svc.db');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, bytes.length - 20 * 4_096));
    const notes = storage.tables<Notes>('notes');
    await assert.rejects(notes.read.selectFrom('notes_note').selectAll().execute(), {
      code: 'unavailable',
    });
    assert.match(storage.writable()!, /SQLITE_CORRUPT/);
    await assert.rejects(
      notes.write((tx) => tx.deleteFrom('notes_note').execute()),
      { code: 'unavailable' },
    );
    assert.equal(
      (await storage.core().read.selectFrom('core_migrations').selectAll().execute()).length,
      3,
    );
    await storage.close();
  }));

test('health says so when the folder cannot be looked at, until it can', () =>
  inFolder(async (dir) => {
    const folder = join(dir, 'data');
    mkdirSync(folder);
    const guard = await DiskGuard.open(folder, { lowBelowBytes: 0 }, silent, async () => undefined);
    rmSync(folder, { recursive: true });
    await guard.check();
    assert.match(guard.warning!, /data cannot be checked: ENOENT/);
    mkdirSync(folder);
    await guard.check();
    assert.doesNotMatch(guard.warning ?? '', /cannot be checked/);
    await guard.stop();
  }));
