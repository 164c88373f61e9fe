import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { textOf } from '../../plugins/model/cli/fake-model/chat-request.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./chat-crash-child.ts', import.meta.url));

interface Asked {
  readonly host: string;
  readonly session: string;
}

/**
 * Kills a process whose agents make changes that people approve, again and again: every run ends,
 * and no change is made twice, or reported as made when it was not.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chat-crash-'));
  // Restarts the host that the message names, then says so.
  const fake = await FakeModel.start({
    rules: [
      {
        reply: ({ messages }) => {
          const asked = messages.findLast(({ role }) => role === 'user')!;
          const isTold = messages.at(-1)!.role === 'tool';
          return isTold
            ? { text: 'Done.' }
            : {
                tool_calls: [
                  {
                    name: 'sample_mutating',
                    arguments: { host: /host-\d+-\d+/.exec(textOf(asked))![0] },
                  },
                ],
              };
        },
      },
    ],
  });
  const asked: Asked[] = [];
  try {
    for (const kill of counted(rounds, 'kills')) {
      const { url, running } = await start(folder, fake.url);
      const until = performance.now() + 100 + Math.random() * 900;
      const stop = new AbortController();
      const working = Promise.allSettled([
        ask(url, kill, asked, stop.signal),
        sign(url, stop.signal),
      ]);
      await pause(until - performance.now());
      running.kill('SIGKILL');
      await once(running, 'exit');
      stop.abort();
      await working;
    }
    const { url, running } = await start(folder, fake.url);
    const stop = new AbortController();
    const signing = sign(url, stop.signal).catch(() => undefined);
    const states = await settle(url, asked);
    stop.abort();
    await signing;
    running.kill('SIGKILL');
    return { ok: true, kills: rounds, ...judge(folder, states) };
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

/** One message after the other, each in a session of its own; none waits for its answer. */
async function ask(url: string, kill: number, asked: Asked[], stop: AbortSignal): Promise<void> {
  for (let number = 0; !stop.aborted; number++) {
    const session = await call(url, 'anna', 'POST', '/chat/sessions', {});
    const host = `host-${kill}-${number}`;
    asked.push({ host, session: session.id });
    const answer = await fetch(`${url}/api/v1/chat/sessions/${session.id}/messages/stream`, {
      method: 'POST',
      headers: { authorization: 'Bearer anna', 'content-type': 'application/json' },
      body: JSON.stringify({ content: `Restart ${host}.` }),
      signal: stop,
    });
    await answer.body?.cancel();
    await pause(Math.random() * 60);
  }
}

/** Carl signs whatever waits. */
async function sign(url: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const pending = await call(url, 'carl', 'GET', '/approvals?status=pending&limit=200');
    for (const { id, args_sha256: digest } of pending?.items ?? []) {
      await call(url, 'carl', 'POST', `/approvals/${id}/approve`, { args_sha256: digest });
    }
    await pause(20);
  }
}

interface Ended {
  readonly host: string;
  readonly statuses: readonly string[];
}

/** Waits until every run that was begun has ended; a message that was never acknowledged may have none. */
async function settle(url: string, asked: readonly Asked[]): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  for (const { host, session } of asked) {
    for (let waited = 0; ; waited += 50) {
      const { items } = await call(url, 'anna', 'GET', `/chat/sessions/${session}/runs`);
      if (items.every(({ state }: { state: string }) => state === 'ended')) {
        const messages = (await call(url, 'anna', 'GET', `/chat/sessions/${session}/messages`))
          .items;
        assert.equal(messages.length, 2 * items.length, `${host}: ${JSON.stringify(messages)}`);
        const calls = messages.flatMap(
          ({ tool_calls: each }: { tool_calls: { status: string }[] }) => each,
        );
        ended.push({ host, statuses: calls.map(({ status }: { status: string }) => status) });
        break;
      }
      assert.ok(waited < 60_000, `${host} does not end: ${JSON.stringify(items)}`);
      await pause(50);
    }
  }
  return ended;
}

function judge(folder: string, ended: readonly Ended[]): Record<string, number> {
  const lines = readFileSync(join(folder, 'effects'), 'utf8').split('\n').filter(Boolean);
  const count = (status: string): number =>
    ended.filter(({ statuses }) => statuses.includes(status)).length;
  for (const { host, statuses } of ended) {
    const made = lines.filter((line) => line === host).length;
    assert.ok(
      made <= 1,
      `the change of ${host} was made ${made} times; its calls: ${statuses.join(', ')}`,
    );
    assert.ok(
      made === 1 || !statuses.includes('ok'),
      `the change of ${host} is told as made, and was not`,
    );
    assert.ok(
      made === 0 || statuses.some((status) => status === 'ok' || status === 'unknown'),
      `${host} was changed, and its run says ${statuses.join(', ')}`,
    );
  }
  return {
    runs: ended.filter(({ statuses }) => statuses.length > 0).length,
    changes: lines.length,
    'told as made': count('ok'),
    unknown: count('unknown'),
  };
}
