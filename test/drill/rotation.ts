import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { readKeys } from '../../core/storage/keys.ts';
import type { Outcome } from '../exercise.ts';
import { openIn } from '../storage/folder.ts';
import { fill, newestKey, openAll, rotationOf } from './rotation-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./rotation-child.ts', import.meta.url));

/** Kills a rotation of the master key at points spread over all its steps: every secret opens, and the next start finishes it. */
export async function run({ rounds = 40 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rotation-'));
  const seed = join(folder, 'seed');
  let unfinished = 0;
  try {
    const storage = await openIn(seed);
    await fill(storage);
    const old = newestKey(storage);
    const secrets = (await openAll(storage)).get(old)!;
    await storage.close();

    const whole = await rotate(copyOf(seed, folder, 'whole'));
    assert.equal(whole?.resealed, secrets);
    for (const dieAt of pointsOf(whole.steps, rounds)) {
      const dir = copyOf(seed, folder, `${dieAt}`);
      assert.equal(await rotate(dir, dieAt), undefined, `it outlived step ${dieAt}`);
      unfinished += await recovered(dir, old, secrets, `killed at step ${dieAt} of ${whole.steps}`);
    }
    return {
      ok: true,
      kills: rounds,
      'steps of a rotation': whole.steps,
      secrets,
      'starts that had something to finish': unfinished,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Half of them one by one from the beginning, where the key itself is written, half spread over the rest. */
function pointsOf(steps: number, count: number): readonly number[] {
  const early = Math.floor(count / 2);
  const later = count - early;
  return Array.from({ length: count }, (_, index) =>
    index < early ? index + 1 : steps - Math.floor(((count - 1 - index) * (steps - early)) / later),
  );
}

/**
 * Checks that the next start opens everything and continues, and that the one after it has only one
 * key.
 */
async function recovered(dir: string, old: string, secrets: number, when: string): Promise<number> {
  let storage = await openIn(dir);
  const found = await openAll(storage);
  const newest = newestKey(storage);
  assert.equal(
    [...found.values()].reduce((sum, count) => sum + count, 0),
    secrets,
    when,
  );
  void rotationOf(storage).resume();
  for (
    const deadline = Date.now() + 20_000;
    (await openAll(storage)).get(newest) !== secrets;
    await pause(5)
  ) {
    assert.ok(Date.now() < deadline, `${when}: not finished in time`);
  }
  await storage.close();

  storage = await openIn(dir);
  assert.deepEqual([...(await openAll(storage))], [[newest, secrets]], when);
  await storage.close();
  assert.equal(readKeys(join(dir, 'keys', 'secret.key')).length, 1, when);
  return newest !== old && found.get(newest) !== secrets ? 1 : 0;
}

function copyOf(seed: string, folder: string, name: string): string {
  const dir = join(folder, name);
  cpSync(seed, dir, { recursive: true });
  return dir;
}

/** Undefined when it was killed. */
async function rotate(
  dir: string,
  dieAt = 0,
): Promise<{ steps: number; resealed: number } | undefined> {
  const process_ = spawn(process.execPath, [...programOf(child), dir, String(dieAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  process_.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code, signal] = (await once(process_, 'close')) as [number | null, NodeJS.Signals | null];
  assert.ok(
    code === 0 || signal === 'SIGKILL',
    `the rotating process ended with ${code ?? signal}`,
  );
  return code === 0 ? (JSON.parse(output) as { steps: number; resealed: number }) : undefined;
}
