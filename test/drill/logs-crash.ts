import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { budget, matcher } from 'svc/query';

import { openLogStore } from '../../plugins/logs/store/store.ts';
import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { crashOptions, lineOf, writers } from './logs-crash-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./logs-crash-child.ts', import.meta.url));

/** Kills a process that takes pushes of logs, at a random moment, again and again: every acknowledged line is there, once. */
export async function run({ rounds = 25 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-logs-crash-'));
  const acknowledged = writers.map(() => 0);
  let slowestOpenMs = 0;
  let lines = 0;
  let blocks = 0;
  try {
    for (const round of counted(rounds, 'kills')) {
      await writeUntilKilled(folder, 100 + Math.random() * 900, acknowledged);
      const began = performance.now();
      const store = await openLogStore({ folder, ...crashOptions });
      slowestOpenMs = Math.max(slowestOpenMs, performance.now() - began);
      const limits = budget({ timeoutMs: 120_000, now: () => performance.now() });
      lines = 0;
      for (const writer of writers) {
        const found = new Map<string, number>();
        const selected = store
          .source()
          .select(
            [matcher('app', '=', `w${writer}`)],
            { ms: 0, ns: 0 },
            { ms: 2e12, ns: 0 },
            { direction: 'forward' },
            limits,
          );
        let last = 0;
        for await (const { entries } of selected) {
          for (const { ms, line } of entries) {
            assert.ok(ms >= last, `round ${round}: lines of writer ${writer} are in order`);
            last = ms;
            found.set(line, (found.get(line) ?? 0) + 1);
          }
        }
        for (let push = 1; push <= acknowledged[writer]!; push++) {
          for (const line of [0, 1, 2]) {
            const [, text] = lineOf(writer, push, line);
            assert.equal(
              found.get(text),
              1,
              `round ${round}: "${text}" was acknowledged and is there ${found.get(text) ?? 0} times`,
            );
          }
        }
        // One push of each writer may be on disk without its acknowledgement.
        assert.ok(
          found.size <= (acknowledged[writer]! + 1) * 3,
          `round ${round}: writer ${writer} was told of ${acknowledged[writer]} pushes and ${found.size} lines are there`,
        );
        acknowledged[writer] = Math.floor(found.size / 3);
        lines += found.size;
      }
      const status = store.status();
      assert.deepEqual(status.damage, []);
      blocks = status.blocks;
      await store.close();
    }
    return {
      ok: true,
      kills: rounds,
      lines,
      blocks,
      'slowest open, ms': Math.round(slowestOpenMs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeUntilKilled(
  folder: string,
  afterMs: number,
  acknowledged: number[],
): Promise<void> {
  const writing = spawn(
    process.execPath,
    [...programOf(child), folder, ...acknowledged.map(String)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const told = createInterface({ input: writing.stdout });
  let first!: () => void;
  const begun = new Promise<void>((resolve, reject) => {
    first = resolve;
    writing.once('exit', (code) =>
      reject(new Error(`the writing process ended by itself (${code})`)),
    );
  });
  told.on('line', (line) => {
    const [writer, push] = line.split(' ').map(Number);
    acknowledged[writer!] = push!;
    first();
  });
  const read = once(told, 'close');
  await begun;
  await pause(afterMs);
  writing.removeAllListeners('exit');
  writing.kill('SIGKILL');
  await read;
}
