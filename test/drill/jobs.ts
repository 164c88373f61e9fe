import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { openMill } from '../plugins/lib/jobs/mill.ts';
import { openIn } from '../storage/folder.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./jobs-child.ts', import.meta.url));

/**
 * Kills a process that adds and does jobs, again and again: no job that was acknowledged is lost, what is written with the end of a job
 * is there exactly once and in the order of its lane, and a job that is done once is never done twice.
 */
export async function run({
  jobs = 100_000,
  kills = 50,
}: { readonly jobs?: number; readonly kills?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-jobs-'));
  const each = Math.ceil(jobs / kills);
  const acknowledged = new Set<number>();
  const from = performance.now();
  try {
    for (const kill of counted(kills, 'kills')) {
      const first = kill * each;
      const running = start(folder, first, each, 'work');
      const isAdded = once(running.stdout!, 'data').then(() => true);
      const isEarly = kill % 10 === 9;
      const added = await Promise.race([isAdded, pause(isEarly ? 700 : 60_000).then(() => false)]);
      if (added) {
        for (let number = first; number < first + each; number += 1) {
          acknowledged.add(number);
        }
        await pause(Math.random() * 900);
      }
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    const last = start(folder, 0, 0, 'drain');
    assert.equal((await once(last, 'exit'))[0], 0, 'the last process finishes what is left');
    const seconds = Math.round((performance.now() - from) / 1_000);
    return { ok: true, kills, seconds, ...(await judge(folder, acknowledged)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const start = (...args: readonly (string | number)[]): ChildProcess =>
  spawn(process.execPath, [...programOf(child), ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

async function judge(folder: string, acknowledged: ReadonlySet<number>): Promise<Outcome> {
  const storage = await openIn(folder);
  try {
    const { jobs, tables } = await openMill(storage);
    assert.equal(
      (await jobs.count({ state: 'waiting' })) + (await jobs.count({ state: 'running' })),
      0,
    );
    const ground = (
      await tables.read.selectFrom('mill_flour').select(['job', 'note']).execute()
    ).map(({ job, note }) => ({ number: Number(job), lane: note }));
    const newest = new Map<string, number>();
    for (const { number, lane } of ground) {
      assert.ok(number > (newest.get(lane) ?? -1), `${lane}: ${number} twice or out of order`);
      newest.set(lane, number);
    }
    const rung = readFileSync(`${folder}/rings`, 'utf8').trim().split('\n').map(Number);
    assert.equal(new Set(rung).size, rung.length, 'a job that is done once was done twice');
    const unclear = await jobs.count({ queue: 'ring', state: 'failed' });
    const done = new Set([...ground.map(({ number }) => number), ...rung]);
    const missing = [...acknowledged].filter((number) => !done.has(number));
    assert.ok(
      missing.every((number) => number % 10 === 0) && missing.length <= unclear,
      `${missing.length} acknowledged jobs are gone, and ${unclear} were interrupted: ${missing.slice(0, 5).join()}`,
    );
    return {
      acknowledged: acknowledged.size,
      done: done.size,
      done_once: rung.length,
      interrupted_once: unclear,
    };
  } finally {
    await storage.close();
  }
}
