import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { isSvcError, messageOf } from 'svc/sdk';

import type { DiskLimits, Storage } from '../../core/storage/index.ts';
import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { type Notes, notesMigration, openIn } from '../storage/folder.ts';

const mebibyte = 1024 * 1024;
/**
 * Size of the ballast: more than the log may hold, so that releasing it suffices to checkpoint the
 * log.
 */
const ballastBytes = 6 * mebibyte;

interface Tally {
  acknowledged: number;
  refused: number;
  slowestRecoveryMs: number;
}

/** Fills a small disk, by svc itself and by others: reads live, writes are refused, and it recovers alone. Where nothing can be mounted it says `skipped`. */
export async function run({ rounds = 10 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'none', dir], { stdio: 'pipe' });
  } catch (error) {
    rmSync(dir, { recursive: true });
    return { ok: true, skipped: `a small disk cannot be mounted here: ${messageOf(error)}` };
  }
  try {
    const tally: Tally = { acknowledged: 0, refused: 0, slowestRecoveryMs: 0 };
    for (const round of counted(rounds, 'rounds')) {
      // Every second round the guard sleeps, and only SQLite can tell that the disk is full.
      await fillAndFree(join(dir, `data-${round}`), round % 2 === 0, tally);
    }
    const { acknowledged, refused, slowestRecoveryMs } = tally;
    return {
      ok: true,
      rounds,
      'acknowledged writes': acknowledged,
      refused,
      'slowest recovery, ms': Math.round(slowestRecoveryMs),
    };
  } finally {
    execFileSync('umount', ['--lazy', dir]);
    rmSync(dir, { recursive: true });
  }
}

async function fillAndFree(dataDir: string, guarded: boolean, tally: Tally): Promise<void> {
  const disk = {
    readOnlyBelowBytes: mebibyte,
    ballastBytes,
    startReserveBytes: 8 * mebibyte,
    everyMs: guarded ? 20 : 600,
  };
  const filler = join(dataDir, '..', 'filler');
  const first = await openIn(dataDir, { disk });
  await first.migrate('notes', [notesMigration]);
  await ballastLaid(dataDir);
  await first.close();
  // What a start gives up, ballast and reserve, leaves it below that.
  await startOnFullDisk(dataDir, filler, { ...disk, readOnlyBelowBytes: 4 * ballastBytes });

  const storage = await openIn(dataDir, { disk });
  await ballastLaid(dataDir);
  let last = 0;
  try {
    if (!guarded) {
      fillUp(filler, 4 * mebibyte);
    }
    // Four writers until each has been refused.
    await Promise.all([0, 1, 2, 3].map((lane) => writeUntilRefused(storage, lane)));
    assert.match(
      storage.writable() ?? '',
      /read-only because (only \d+ MiB are free|the disk is full)/,
    );
    assert.equal(storage.disk().ok, false);
    const kept = await count(storage);
    assert.equal(kept, last, 'what was acknowledged is there, and nothing else');
    await assert.rejects(insert(storage, 9_000_000), { code: 'unavailable' });
    await reclaim(storage, (tx) => tx.deleteFrom('notes_note').where('id', '<', 10).execute());
    assert.ok((await count(storage)) < kept || kept === 0, 'what frees space is let through');
    if (guarded) {
      fillUp(filler);
      assert.ok((await count(storage)) >= 0, 'reads live with not a byte free');
    }

    rmSync(filler, { force: true });
    await reclaim(storage, (tx) => tx.deleteFrom('notes_note').execute());
    const freed = performance.now();
    await until(() => storage.writable() === undefined, 'it recovers by itself', 30_000);
    tally.slowestRecoveryMs = Math.max(tally.slowestRecoveryMs, performance.now() - freed);
    await insert(storage, 1);
    assert.equal(await count(storage), 1);
    assert.equal(statSync(join(dataDir, 'ballast')).size, ballastBytes, 'the ballast is back');
  } finally {
    await storage.close();
    rmSync(filler, { force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }

  async function writeUntilRefused(to: Storage, lane: number): Promise<void> {
    for (let index = 1; ; index++) {
      try {
        await insert(to, index * 4 + lane);
        last += 1;
        tally.acknowledged += 1;
      } catch (error) {
        assert.ok(isSvcError(error) && error.code === 'unavailable', messageOf(error));
        tally.refused += 1;
        return;
      }
    }
  }
}

/** Frees space, which needs some itself to checkpoint the log: that is what the ballast is for. */
async function reclaim(
  storage: Storage,
  work: Parameters<ReturnType<typeof storage.tables<Notes>>['write']>[0],
): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; await pause(20)) {
    try {
      await storage.reclaim(() => storage.tables<Notes>('notes').write(work));
      return;
    } catch (error) {
      if (!isSvcError(error) || error.code !== 'unavailable' || performance.now() > deadline) {
        throw error;
      }
    }
  }
}

const insert = (storage: Storage, id: number): Promise<unknown> =>
  storage.tables<Notes>('notes').write((tx) =>
    tx
      .insertInto('notes_note')
      .values({ id, text: `${id} ${'x'.repeat(20_000)}` })
      .execute(),
  );

async function count(storage: Storage): Promise<number> {
  const { total } = await storage
    .tables<Notes>('notes')
    .read.selectFrom('notes_note')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

/** Starts on a disk that others have filled to the last byte, by releasing the ballast. */
async function startOnFullDisk(dataDir: string, filler: string, disk: DiskLimits): Promise<void> {
  fillUp(filler);
  const storage = await openIn(dataDir, { disk });
  assert.equal(await count(storage), 0);
  assert.match(storage.writable() ?? '', /read-only/);
  await storage.close();
  rmSync(filler);
}

/** Writes until the disk is full, or until only `leave` bytes are left. */
function fillUp(file: string, leave = 0): void {
  const chunk = Buffer.alloc(64 * 1024, 1);
  const descriptor = openSync(file, 'a');
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(file);
      if (bavail * bsize <= leave) {
        return;
      }
      writeSync(descriptor, chunk);
    }
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    closeSync(descriptor);
  }
}

const ballastLaid = (dataDir: string): Promise<void> =>
  until(
    () =>
      existsSync(join(dataDir, 'ballast')) &&
      statSync(join(dataDir, 'ballast')).size === ballastBytes,
    'the ballast is laid',
  );

async function until(ready: () => boolean, what: string, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!ready()) {
    assert.ok(performance.now() < deadline, `within ${withinMs} ms: ${what}`);
    await pause(10);
  }
}
