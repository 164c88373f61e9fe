import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./investigate-crash-child.ts', import.meta.url));

/**
 * Points between two writes of an investigation: taken, queried, report stored, timeline written.
 */
const points = ['begun', 'asked', 'stored', 'told'] as const;

interface Run {
  readonly incident_id: number;
  readonly status: string;
}

/**
 * Kills a process at each point at which an investigation writes: after the next start each one
 * ends, once, and its incident gets one entry.
 */
export async function run({
  rounds = 3,
  incidents = 12,
  kinds = points.length,
}: {
  readonly rounds?: number;
  readonly incidents?: number;
  readonly kinds?: number;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-investigate-crash-'));
  let kills = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      // The later points first: what was stored is the dearest.
      for (const point of points.toReversed().slice(0, kinds)) {
        const { running } = await start(folder, incidents, point, 1 + round);
        const [, signal] = await Promise.race([
          running.exitCode === null && running.signalCode === null
            ? once(running, 'exit')
            : [0, 'SIGKILL'],
          quiet(running),
        ]);
        kills += signal === 'SIGKILL' ? 1 : 0;
      }
    }
    const { running, line } = await start(folder, incidents, 'never', 1);
    const runs = await settled(await line, incidents);
    // What has just ended is told behind that.
    const toldOf = (): readonly string[] =>
      readFileSync(join(folder, 'timeline'), 'utf8').split('\n').filter(Boolean);
    for (let tries = 0; tries < 100 && toldOf().length < incidents; tries += 1) {
      await pause(50);
    }
    running.kill('SIGKILL');
    await once(running, 'exit');
    const told = toldOf();
    const ready = runs.filter(({ status }) => status === 'ready').length;
    const failed = runs.filter(({ status }) => status === 'failed').length;
    assert.equal(
      new Set(runs.map(({ incident_id: id }) => id)).size,
      runs.length,
      'an incident was investigated twice',
    );
    assert.equal(
      ready + failed,
      incidents,
      `${runs.length} of ${incidents} investigations are there`,
    );
    assert.equal(new Set(told).size, told.length, 'a timeline was told twice');
    assert.equal(
      told.length,
      ready + failed,
      `${ready} reports are ready, ${failed} are given up, and ${told.length} timelines were told`,
    );
    return { ok: kills > 0, kills, incidents, ready, 'given up, and said so': failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ends a process that never reaches the point because nothing is left to do. */
async function quiet(running: ChildProcess): Promise<[number, string]> {
  await pause(20_000, undefined, { ref: false });
  running.kill('SIGKILL');
  return [0, 'late'];
}

async function start(
  folder: string,
  incidents: number,
  point: string,
  calls: number,
): Promise<{ readonly running: ChildProcess; readonly line: Promise<string> }> {
  const running = spawn(
    process.execPath,
    [...programOf(child), folder, String(incidents), point, String(calls)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const line = once(createInterface({ input: running.stdout }), 'line').then(([text]) =>
    String(text),
  );
  await Promise.race([line, once(running, 'exit')]);
  return { running, line };
}

async function settled(line: string, incidents: number): Promise<readonly Run[]> {
  const [url, token] = line.split(' ');
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await fetch(`${url}/api/v1/investigations?limit=200`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { items } = (await answer.json()) as { items: readonly Run[] };
    if (
      items.length >= incidents &&
      items.every(({ status }) => status !== 'pending' && status !== 'running')
    ) {
      return items;
    }
    await pause(100);
  }
  throw new Error('investigations do not end after the last start');
}
