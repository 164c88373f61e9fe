import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { expectedAfter, stateOf, writers } from './crash-model.ts';
import { openIn } from '../storage/folder.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./crash-child.ts', import.meta.url));

/** Kills a process that writes, at a random moment, again and again: what it acknowledged is there, whole. */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'));
  const acknowledged = new Map<number, number>(writers.map((writer) => [writer, 0]));
  let unheard = 0;
  let slowestOpenMs = 0;
  try {
    for (const round of counted(rounds, 'kills')) {
      await writeUntilKilled(dir, 30 + Math.random() * 300, acknowledged);

      const before = performance.now();
      const storage = await openIn(dir);
      slowestOpenMs = Math.max(slowestOpenMs, performance.now() - before);
      assert.ok(slowestOpenMs < 5_000, `round ${round}: it took ${slowestOpenMs} ms to open again`);
      const found = await stateOf(storage);
      await storage.close();

      assert.deepEqual(integrity(dir), ['ok'], `round ${round}`);
      for (const writer of writers) {
        const heard = acknowledged.get(writer)!;
        const { operations } = found.get(writer)!;
        // One write of each may be on disk without its acknowledgement; none may be missing.
        assert.ok(
          operations === heard || operations === heard + 1,
          `round ${round}: writer ${writer} was told of ${heard} writes and ${operations} are there`,
        );
        assert.deepEqual(
          found.get(writer),
          expectedAfter(operations),
          `round ${round}: writer ${writer}`,
        );
        unheard += operations - heard;
        acknowledged.set(writer, operations);
      }
    }
    const all = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
    return {
      ok: true,
      kills: rounds,
      'acknowledged writes': all - unheard,
      'on disk but unheard of': unheard,
      'slowest open, ms': Math.round(slowestOpenMs),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Writes into `dir` from a process of its own, which is killed; notes what it has acknowledged. */
export async function writeUntilKilled(
  dir: string,
  afterMs: number,
  acknowledged: Map<number, number>,
): Promise<void> {
  const process_ = spawn(process.execPath, [...programOf(child), dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: process_.stdout });
  let first: (() => void) | undefined;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    process_.once('exit', (code) =>
      reject(new Error(`the writing process ended by itself (${code})`)),
    );
  });
  lines.on('line', (line) => {
    const [writer, operation] = line.split(' ').map(Number);
    acknowledged.set(writer!, operation!);
    first!();
  });
  const read = once(lines, 'close');
  await begun;
  await pause(afterMs);
  process_.removeAllListeners('exit');
  process_.kill('SIGKILL');
  await read;
}

function integrity(dir: string): unknown[] {
  const database = new Database(join(dir, 'svc.db'), { readonly: true });
  try {
    return database.prepare('pragma integrity_check').pluck().all();
  } finally {
    database.close();
  }
}
