import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connectWriter } from '../../core/storage/sqlite/connection.ts';
import { lossIn } from '../../core/storage/sqlite/log-file.ts';
import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { numbers } from './seeded.ts';
import { type Notes, notesMigration, openIn } from '../storage/folder.ts';

const damages = {
  truncate: (wal: Buffer, at: number) => wal.subarray(0, at),
  garble: (wal: Buffer, at: number) => {
    const copy = Buffer.from(wal);
    copy[at] = copy[at]! ^ 0x5a;
    return copy;
  },
  zero: (wal: Buffer, at: number) => Buffer.from(wal).fill(0, at, at + 512),
};

/**
 * Truncates, corrupts and zeroes the log as a power cut may: every commit before the damage is
 * there, in order, and nothing is corrupt. Commits behind a damage are told, and a torn end is no
 * damage.
 */
export async function run({ rounds = 1_500 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const source = mkdtempSync(join(tmpdir(), 'svc-torn-'));
  const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'svc-torn-'));
  try {
    const { database, wal, ends } = await recorded(source);
    const kinds = Object.values(damages);
    for (const round of counted(rounds, 'cases')) {
      // A prime apart from page and frame sizes, so that every part of a frame is hit.
      const at =
        Math.floor((round / kinds.length) * (wal.length / (rounds / kinds.length)) + (round % 97)) %
        wal.length;
      const damaged = kinds[round % kinds.length]!(wal, at);
      const file = join(scratch, 'svc.db');
      place(file, database, damaged);
      const told = lossIn(file);
      const found = recoveredFrom(file);
      const sure = ends.filter((end) => end <= at).length;
      assert.deepEqual(found.integrity, ['ok'], `damage ${round} at byte ${at}`);
      assert.deepEqual(
        found.ids,
        Array.from({ length: found.ids.length }, (_, index) => index + 1),
        `damage ${round} at byte ${at}: commits in order`,
      );
      assert.ok(
        found.ids.length >= sure,
        `damage ${round} at byte ${at}: ${sure} commits end before it, ${found.ids.length} are there`,
      );
      const kind = kinds[round % kinds.length]!;
      const lost = ends.length - found.ids.length;
      // Nothing follows the last commit: it cannot be told from one that a power cut has torn.
      if (kind === damages.truncate || lost <= 1) {
        assert.equal(told, undefined, `damage ${round} at byte ${at}: a torn end is no damage`);
      } else if (kind === damages.garble || lost > 3) {
        assert.ok(
          told !== undefined && told.commits >= lost - (kind === damages.zero ? 2 : 1),
          `damage ${round} at byte ${at}: ${lost} commits are lost, and ${told?.commits} are told`,
        );
      }
    }
    assertTornEndsUntold(join(scratch, 'svc.db'), { database, wal, ends });
    return { ok: true, cases: rounds, commits: ends.length, 'log, bytes': wal.length };
  } finally {
    rmSync(source, { recursive: true, force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The files of a database with all its commits still in the log, and where in the log each commit ends. */
async function recorded(dir: string): Promise<{ database: Buffer; wal: Buffer; ends: number[] }> {
  const setUp = await openIn(dir);
  await setUp.migrate('notes', [notesMigration]);
  await setUp.close();
  const storage = await openIn(dir);
  const notes = storage.tables<Notes>('notes');
  const ends: number[] = [];
  for (let id = 1; id <= 120; id++) {
    await notes.write((tx) =>
      tx
        .insertInto('notes_note')
        .values({ id, text: `${id} ${'x'.repeat((id * 61) % 2_000)}` })
        .execute(),
    );
    ends.push(statSync(join(dir, 'svc.db-wal')).size);
  }
  const files = {
    database: readFileSync(join(dir, 'svc.db')),
    wal: readFileSync(join(dir, 'svc.db-wal')),
    ends,
  };
  await storage.close();
  return files;
}

/** Sectors of the last transaction that a power cut has kept from the disk: what is there instead is older, or nothing. */
function assertTornEndsUntold(
  file: string,
  { database, wal, ends }: { database: Buffer; wal: Buffer; ends: readonly number[] },
): void {
  const random = numbers(11);
  for (let round = 0; round < 200; round += 1) {
    const last = random(ends.length - 1) + 1;
    const [start, end] = [ends[last - 1]!, ends[last]!];
    const torn = Buffer.from(wal.subarray(0, end));
    for (let sector = start; sector < end; sector += 512) {
      if (random(3) === 0) {
        const older = wal.subarray(random(start), start);
        torn.fill(random(2) === 0 ? older : 0, sector, Math.min(sector + 512, end));
      }
    }
    place(file, database, torn);
    assert.equal(lossIn(file), undefined, `round ${round}: commit ${last} is torn`);
  }
}

function place(file: string, database: Buffer, wal: Buffer): void {
  rmSync(`${file}-shm`, { force: true });
  writeFileSync(file, database);
  writeFileSync(`${file}-wal`, wal);
}

function recoveredFrom(file: string): { integrity: unknown[]; ids: unknown[] } {
  const connection = connectWriter(file);
  try {
    return {
      integrity: connection.prepare('pragma integrity_check').pluck().all(),
      ids: connection.prepare('select id from notes_note order by id').pluck().all(),
    };
  } finally {
    connection.close();
  }
}
