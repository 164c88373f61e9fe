import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./approval-crash-child.ts', import.meta.url));

interface Known {
  readonly host: string;
  readonly id: string;
}

/**
 * Kills the approval plugin while two people sign what a third has requested: each change is made
 * once, or its approval says that its outcome is unknown.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-approval-crash-'));
  const known: Known[] = [];
  try {
    for (const kill of counted(rounds, 'kills')) {
      const { url, running } = await start(folder);
      const before = known.length;
      const stop = new AbortController();
      const working = Promise.allSettled([
        ask(url, kill, known, stop.signal),
        sign(url, 'bob', stop.signal),
        sign(url, 'carl', stop.signal),
      ]);
      // However slow the machine is: something waits, and then some.
      for (let waited = 0; known.length < before + 2 && waited < 20_000; waited += 10) {
        await pause(10);
      }
      await pause(Math.random() * 600);
      running.kill('SIGKILL');
      await once(running, 'exit');
      stop.abort();
      await working;
    }
    const { url, running } = await start(folder);
    const stop = new AbortController();
    const signing = Promise.allSettled([
      sign(url, 'bob', stop.signal),
      sign(url, 'carl', stop.signal),
    ]);
    const ends = await settle(url);
    stop.abort();
    await signing;
    running.kill('SIGKILL');
    return { ok: true, kills: rounds, ...judge(folder, known, ends) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(
  folder: string,
): Promise<{ readonly url: string; readonly running: ChildProcess }> {
  const running = spawn(process.execPath, [...programOf(child), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
  return { url, running };
}

async function call(
  url: string,
  who: string,
  method: string,
  path: string,
  body?: object,
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
): Promise<any> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return answer.ok && text !== '' ? JSON.parse(text) : undefined;
}

async function ask(url: string, kill: number, known: Known[], stop: AbortSignal): Promise<void> {
  for (let number = 0; !stop.aborted; number++) {
    const host = `host-${kill}-${number}`;
    const { approval_id: id } = await call(
      url,
      'anna',
      'POST',
      '/skills/sample_dangerous/execute',
      { params: { host } },
    );
    known.push({ host, id });
    await pause(Math.random() * 40);
  }
}

async function sign(url: string, who: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    for (const status of ['pending', 'partially_signed']) {
      const waiting = await call(url, who, 'GET', `/approvals?status=${status}&limit=200`);
      for (const { id, args_sha256 } of waiting?.items ?? []) {
        await call(url, who, 'POST', `/approvals/${id}/approve`, { args_sha256 });
      }
    }
    await pause(10);
  }
}

/** Host to status, once nothing moves any more. */
async function settle(url: string): Promise<ReadonlyMap<string, string>> {
  for (let waited = 0; ; waited += 100) {
    const all = new Map<string, string>();
    for (let cursor = ''; ;) {
      const page = await call(
        url,
        'anna',
        'GET',
        `/approvals?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      page.items.forEach(({ args, status }: { args: { host: string }; status: string }) =>
        all.set(args.host, status),
      );
      cursor = page.next_cursor;
      if (cursor === '') {
        break;
      }
    }
    const open = [...all].filter(([, status]) =>
      ['pending', 'partially_signed', 'approved', 'executing'].includes(status),
    );
    if (open.length === 0) {
      return all;
    }
    assert.ok(
      waited < 60_000,
      `${open.length} approvals do not end: ${open.slice(0, 5).join('; ')}`,
    );
    await pause(100);
  }
}

function judge(
  folder: string,
  known: readonly Known[],
  ends: ReadonlyMap<string, string>,
): Record<string, number> {
  const lines = readFileSync(join(folder, 'effects'), 'utf8').split('\n').filter(Boolean);
  for (const { host } of known) {
    assert.ok(ends.has(host), `the approval of ${host} was acknowledged and is gone`);
  }
  for (const [host, status] of ends) {
    const made = lines.filter((line) => line === host).length;
    assert.ok(made <= 1, `the change of ${host} was made ${made} times; its approval is ${status}`);
    assert.ok(
      made === 1 || status !== 'executed',
      `the change of ${host} is told as made, and was not`,
    );
    assert.ok(
      made === 0 || status === 'executed' || status === 'unknown',
      `${host} was changed, and its approval is ${status}`,
    );
  }
  const count = (status: string): number =>
    [...ends.values()].filter((one) => one === status).length;
  return {
    approvals: ends.size,
    changes: lines.length,
    executed: count('executed'),
    unknown: count('unknown'),
  };
}
