import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { batchesIn, openIn } from './metrics-crash-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./metrics-crash-child.ts', import.meta.url));

/** Kills a store of metrics while it takes samples, cuts and compacts, again and again: every acknowledged batch is there, whole, once. */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-metrics-crash-'));
  let batches = 0;
  let unheard = 0;
  let slowestOpenMs = 0;
  let blocks = 0;
  try {
    for (const round of counted(rounds, 'kills')) {
      const heard = await writeUntilKilled(folder, 30 + Math.random() * 500);
      const before = performance.now();
      const store = await openIn(folder);
      slowestOpenMs = Math.max(slowestOpenMs, performance.now() - before);
      try {
        const found = await batchesIn(store);
        assert.ok(
          found === heard + 1 || found === heard + 2,
          `round ${round}: batch ${heard} was acknowledged and ${found} batches are there`,
        );
        assert.deepEqual(store.damage(), [], `round ${round}`);
        unheard += found - heard - 1;
        batches = found;
        ({ blocks } = store.stats());
      } finally {
        await store.close();
      }
    }
    return {
      ok: true,
      kills: rounds,
      'acknowledged batches': batches - unheard,
      'on disk but unheard of': unheard,
      blocks,
      'slowest open, ms': Math.round(slowestOpenMs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number of the last batch that was acknowledged. */
async function writeUntilKilled(folder: string, afterMs: number): Promise<number> {
  const process_ = spawn(process.execPath, [...programOf(child), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: process_.stdout });
  let last = -1;
  let first: (() => void) | undefined;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    process_.once('exit', (code) =>
      reject(new Error(`the writing process ended by itself (${code})`)),
    );
  });
  lines.on('line', (line) => {
    last = Number(line);
    first!();
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  process_.removeAllListeners('exit');
  process_.kill('SIGKILL');
  await read;
  return last;
}
