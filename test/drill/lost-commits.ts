import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Logger } from 'svc/sdk';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { openIn, silent } from '../storage/folder.ts';
import { writeUntilKilled } from './crash.ts';
import { expectedAfter, stateOf, type WriterState } from './crash-model.ts';
import { flipBit } from './flip-bit.ts';
import { numbers } from './seeded.ts';

interface Found {
  /** Undefined: the folder could not be opened. */
  readonly state: ReadonlyMap<number, WriterState> | undefined;
  /** The log of the database is said to be damaged. */
  readonly isTold: boolean;
}

/**
 * Kills a process that writes, flips a bit of the log that it leaves, and opens the folder again: if
 * anything is missing, the log is named, and without a flip nothing is said.
 */
export async function run({
  rounds = 40,
  flips = 10,
  seed = 3,
}: {
  readonly rounds?: number;
  readonly flips?: number;
  readonly seed?: number;
} = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-lost-'));
  const random = numbers(seed);
  const outcome = { kills: rounds, flips: 0, lost: 0, told: 0, 'told though nothing is lost': 0 };
  try {
    const live = join(dir, 'live');
    const acknowledged = new Map<number, number>();
    for (const round of counted(rounds, 'kills')) {
      await writeUntilKilled(live, 30 + random(400), acknowledged);
      const whole = await foundIn(live, join(dir, 'whole'), undefined);
      assert.ok(
        whole.state && hasAll(whole.state, acknowledged) && !whole.isTold,
        `round ${round}: nothing is damaged by a kill`,
      );
      const log = join(live, 'svc.db-wal');
      const bytes = existsSync(log) ? statSync(log).size : 0;
      for (let flip = 0; flip < flips && bytes > 0; flip += 1) {
        // Some in what was written last, which only the index tells from a torn end.
        const at = flip % 3 === 0 ? Math.max(0, bytes - 1 - random(9_000)) : random(bytes);
        const { state, isTold } = await foundIn(live, join(dir, 'flipped'), at);
        const isLost = !state || !hasAll(state, acknowledged);
        assert.ok(
          isTold || !isLost,
          `round ${round}: a bit at ${at} of ${bytes} cost acknowledged writes, and no message says so`,
        );
        outcome.flips += 1;
        outcome.lost += isLost ? 1 : 0;
        outcome.told += isTold ? 1 : 0;
        outcome['told though nothing is lost'] += isTold && !isLost ? 1 : 0;
      }
    }
    return { ok: true, ...outcome };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns whether every acknowledged write is there, whole; what a kill has caught before that may be missing. */
const hasAll = (
  state: ReadonlyMap<number, WriterState>,
  acknowledged: ReadonlyMap<number, number>,
): boolean =>
  [...state].every(
    ([writer, found]) =>
      found.operations >= (acknowledged.get(writer) ?? 0) &&
      isDeepStrictEqual(found, expectedAfter(found.operations)),
  );

/** Opens a copy of the folder, with one bit of its log flipped. */
async function foundIn(live: string, copy: string, at: number | undefined): Promise<Found> {
  cpSync(live, copy, { recursive: true });
  if (at !== undefined) {
    flipBit(join(copy, 'svc.db-wal'), at);
  }
  const said: string[] = [];
  const log: Logger = { ...silent, error: (_fields, text) => said.push(String(text)) };
  const isTold = (): boolean => said.some((text) => text.includes('svc.db-wal is damaged'));
  try {
    const storage = await openIn(copy, { log });
    try {
      const { degraded = false, detail = '' } = storage.health();
      assert.equal(degraded, isTold(), detail);
      assert.equal(existsSync(join(copy, 'svc.db-wal.damaged-1')), isTold());
      return { state: await stateOf(storage), isTold: isTold() };
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) {
      throw error;
    }
    said.push(String(error));
    return { state: undefined, isTold: isTold() };
  } finally {
    rmSync(copy, { recursive: true });
  }
}
