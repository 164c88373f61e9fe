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
import { openIn, replayed, writers } from './telemetry-wal-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./telemetry-wal-child.ts', import.meta.url));

/** Kills a process that appends to the log of a store, at a random moment, again and again: what it acknowledged is there, whole, once. */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const parent = mkdtempSync(join(tmpdir(), 'svc-telemetry-wal-'));
  const folder = join(parent, 'wal');
  const acknowledged = new Map<number, number>(writers.map((writer) => [writer, 0]));
  let unheard = 0;
  let segments = 0;
  try {
    for (const round of counted(rounds, 'kills')) {
      await writeUntilKilled(folder, Math.random() * 250, acknowledged);
      const wal = await openIn(folder);
      segments = wal.segment;
      const found = await replayed(wal);
      await wal.close();
      for (const writer of writers) {
        const heard = acknowledged.get(writer)!;
        const there = found.get(writer)!;
        // One append of each may be on disk without its acknowledgement; none may be missing.
        assert.ok(
          there === heard || there === heard + 1,
          `round ${round}: writer ${writer} was told of ${heard} appends and ${there} are there`,
        );
        unheard += there - heard;
        acknowledged.set(writer, there);
      }
    }
    const all = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
    return {
      ok: true,
      kills: rounds,
      'acknowledged appends': all - unheard,
      'on disk but unheard of': unheard,
      segments,
    };
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function writeUntilKilled(
  folder: string,
  afterMs: number,
  acknowledged: Map<number, number>,
): Promise<void> {
  const writing = spawn(process.execPath, [...programOf(child), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: writing.stdout });
  const begun = new Promise<void>((resolve, reject) => {
    lines.once('line', () => resolve());
    writing.once('exit', (code) =>
      reject(new Error(`the writing process ended by itself (${code})`)),
    );
  });
  lines.on('line', (line) => {
    const [writer, operation] = line.split(' ').map(Number);
    acknowledged.set(writer!, operation!);
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  writing.removeAllListeners('exit');
  writing.kill('SIGKILL');
  await read;
}
