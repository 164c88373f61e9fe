import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome, Row } from '../exercise.ts';
import { programOf } from '../program-of.ts';
import { type Answer, type FlippedStore, flippedStores } from './bit-flips-stores.ts';

const child = fileURLToPath(new URL('./rebuild-crash-child.ts', import.meta.url));

/** Kills each store while it rebuilds its catalogue and is mended, again and again: every answer is complete. */
export async function run({ rounds = 30 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const stores: Row[] = [];
  for (const store of flippedStores) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-rebuild-crash-'));
    try {
      await store.fill(folder);
      const expected = await answerOf(store, folder);
      let rebuilds = 0;
      for (const round of counted(rounds, 'kills')) {
        rebuilds += await rebuildUntilKilled(store.name, folder, Math.random() * 200);
        const found = await answerOf(store, folder);
        assert.equal(found.text, expected.text, `${store.name}, round ${round}`);
        assert.deepEqual(found.warnings, [], `${store.name}, round ${round}`);
      }
      stores.push({ store: store.name, kills: rounds, rebuilds });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return { ok: true, kills: rounds * flippedStores.length, stores };
}

async function answerOf(store: FlippedStore, folder: string): Promise<Answer> {
  const open = await store.open(folder);
  try {
    return await open.ask();
  } finally {
    await open.close();
  }
}

/** The number of rebuilds that were completed. */
async function rebuildUntilKilled(store: string, folder: string, afterMs: number): Promise<number> {
  const process_ = spawn(process.execPath, [...programOf(child), store, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rebuilds = 0;
  process_.stdout.on('data', (bytes: Buffer) => (rebuilds += bytes.length));
  const ended = once(process_, 'exit');
  await Promise.race([
    once(process_.stdout, 'data'),
    ended.then(([code]) => assert.fail(`the rebuilding process ended by itself (${code})`)),
  ]);
  await pause(afterMs);
  process_.kill('SIGKILL');
  await ended;
  return rebuilds;
}
