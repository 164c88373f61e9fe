import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./schedules-crash-child.ts', import.meta.url));

/**
 * Kills a process whose schedule has just become due, again and again: each slot becomes one run or
 * is counted as left out, and each run is asked once, ends once, and is delivered.
 */
export async function run({ rounds = 40 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-schedules-crash-'));
  const fake = await FakeModel.start({ rules: [{ reply: { text: 'All is well.' } }] });
  try {
    let { url, running } = await start(folder, fake.url);
    const made = await call(url, 'POST', '/schedules', {
      name: 'Check',
      question: 'Is all well?',
      agent: 'sre',
      cron: '0 0 1 1 *',
      deliver_to: 'channel',
      channel_ids: [1],
    });
    await kill(running);
    for (const _kill of counted(rounds, 'kills')) {
      comeDue(folder);
      ({ url, running } = await start(folder, fake.url));
      await pause(Math.random() * 400);
      await kill(running);
    }
    ({ url, running } = await start(folder, fake.url));
    const outcome = await settle(url, made.id, folder);
    await kill(running);
    assert.equal(Number(outcome['runs']) + Number(outcome['left out']), rounds, 'a slot is lost');
    return { ok: true, kills: rounds, ...outcome };
  } finally {
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(
  folder: string,
  model: string,
): Promise<{ readonly url: string; readonly running: ChildProcess }> {
  const running = spawn(process.execPath, [...programOf(child), folder, model], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
  return { url, running };
}

async function kill(running: ChildProcess): Promise<void> {
  running.kill('SIGKILL');
  await once(running, 'exit');
}

/** Sets the next slot to this moment, while nobody has the database open. */
function comeDue(folder: string): void {
  const db = new Database(join(folder, 'data', 'svc.db'));
  db.prepare('UPDATE schedules_schedules SET next_at = ?').run(Date.now());
  db.close();
}

// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
async function call(url: string, method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: 'Bearer anna', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text);
}

/** Waits until every run has ended, and compares runs, sessions and what was sent. */
async function settle(url: string, id: number, folder: string): Promise<Record<string, number>> {
  for (let waited = 0; ; waited += 50) {
    const { items } = await call(url, 'GET', `/schedules/${id}/runs?limit=200`);
    if (items.every(({ ended_at: at }: { ended_at: string | null }) => at !== null)) {
      const sent = new Set<string>(
        readFileSync(join(folder, 'sent'), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => (JSON.parse(line) as [string])[0]),
      );
      for (const { run_id: run, session_id: session, state, error } of items) {
        assert.equal(state, 'done', error);
        assert.ok(sent.has(`schedule.${run}`), `the answer of ${run} was not sent`);
        const { items: said } = await call(url, 'GET', `/chat/sessions/${session}/messages`);
        assert.deepEqual(
          said.map(({ role }: { role: string }) => role),
          ['assistant', 'user'],
          `session of ${run}`,
        );
      }
      assert.equal(sent.size, items.length, 'an answer was sent for a slot without a run');
      const { skipped } = await call(url, 'GET', `/schedules/${id}`);
      return { runs: items.length, 'left out': skipped };
    }
    assert.ok(waited < 60_000, JSON.stringify(items));
    await pause(50);
  }
}
