import assert from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Outcome, Row } from '../exercise.ts';
import { type Answer, type FlippedStore, flippedStores } from './bit-flips-stores.ts';

/** One bit in every so many bytes at the most, so that every section of every file is met. */
const strideBytes = 97;

interface Tally {
  flips: number;
  right: number;
  warned: number;
  wrong: number;
  failed: number;
}

/**
 * Flips one bit after another in the files of each store: every answer is unchanged, or says that
 * something is missing; the store keeps running; and with the bit restored everything is back.
 */
export async function run({
  flips = 1_000,
  seed = 13,
}: { readonly flips?: number; readonly seed?: number } = {}): Promise<Outcome> {
  const stores: Row[] = [];
  for (const store of flippedStores) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-flips-'));
    try {
      stores.push(...(await flipThrough(store, folder, flips, seed)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return { ok: stores.every(({ ok }) => ok === true), flips, stores };
}

async function flipThrough(
  store: FlippedStore,
  folder: string,
  flips: number,
  seed: number,
): Promise<Row[]> {
  const whole = join(folder, 'whole');
  await store.fill(whole);
  const expected = await store.ask(whole);
  assert.deepEqual(expected.warnings, [], `${store.name} is whole before the first flip`);
  const files = filesOf(whole);
  const rows: Row[] = [];
  for (const kind of [...new Set(files.map(kindOf))]) {
    const tally: Tally = { flips: 0, right: 0, warned: 0, wrong: 0, failed: 0 };
    const wrongs: string[] = [];
    for (const [file, at] of places(
      whole,
      files.filter((name) => kindOf(name) === kind),
      Math.ceil(flips / 6),
      seed,
    )) {
      const copy = join(folder, 'copy');
      cpSync(whole, copy, { recursive: true });
      flip(join(copy, file), at);
      tally.flips++;
      const { isWarned, isRight } = await judged(store, copy, expected);
      tally.failed += isRight === undefined ? 1 : 0;
      tally.right += isRight === true ? 1 : 0;
      tally.warned += isRight === false && isWarned ? 1 : 0;
      if (isRight === false && !isWarned) {
        tally.wrong++;
        wrongs.push(`${file} at byte ${at}`);
      }
      rmSync(copy, { recursive: true });
    }
    const ok = tally.wrong === 0 && tally.failed === 0;
    rows.push({
      store: store.name,
      file: kind,
      ok,
      ...tally,
      ...(wrongs.length > 0 && { examples: wrongs.slice(0, 3).join(', ') }),
    });
  }
  return rows;
}

/** `isRight` is undefined when the store does not open or does not answer at all. */
async function judged(
  store: FlippedStore,
  folder: string,
  expected: Answer,
): Promise<{ readonly isWarned: boolean; readonly isRight: boolean | undefined }> {
  try {
    const { text, warnings } = await store.ask(folder);
    return { isWarned: warnings.length > 0, isRight: text === expected.text };
  } catch {
    return { isWarned: true, isRight: undefined };
  }
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(join(folder, name)).isFile() && !/catalogue\.db/.test(name),
  );

const kindOf = (file: string): string =>
  file.startsWith('wal') ? 'log' : file.includes('thin') ? 'thinned block' : 'block';

/** Evenly over all bytes of the files, shifted by the seed. */
function places(
  folder: string,
  files: readonly string[],
  most: number,
  seed: number,
): [file: string, at: number][] {
  const sizes = files.map((file) => [file, statSync(join(folder, file)).size] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const stride = Math.max(1, Math.min(strideBytes, total), Math.floor(total / most));
  return sizes.flatMap(([file, size]) =>
    Array.from({ length: Math.ceil(size / stride) }, (_, i): [string, number] => [
      file,
      (i * stride + seed) % size,
    ]),
  );
}

function flip(path: string, at: number): void {
  const descriptor = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, at);
  byte[0]! ^= 1 << (at % 8);
  writeSync(descriptor, byte, 0, 1, at);
  closeSync(descriptor);
}
