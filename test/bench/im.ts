import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import type { Outcome, Row } from '../exercise.ts';
import { callback, draftOf, secretsOf, startFake } from '../plugins/imbridge/office.ts';

const child = fileURLToPath(new URL('./im-child.ts', import.meta.url));
const goalMs = 100;
const mebibyte = 2 ** 20;

/**
 * Measures how soon a platform gets the acknowledgement of its message, at a steady rate, and
 * whether each message is answered in the end.
 */
export async function run({
  rate = 500,
  seconds = 60,
  patience = 600,
}: Row = {}): Promise<Outcome> {
  const model = await FakeModel.start({ rules: [{ reply: { text: 'All is well.' } }] });
  const secrets = secretsOf('slack');
  const fake = await startFake('slack', secrets);
  const server = fork(child, [model.url], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  try {
    const [url] = (await once(createInterface({ input: server.stdout! }), 'line')) as [string];
    const draft = JSON.stringify({ ...draftOf('slack', fake.url), allow_from: ['*'] });
    const made = await fetch(`${url}/api/v1/im/apps`, {
      method: 'POST',
      headers: { authorization: 'Bearer bob', 'content-type': 'application/json' },
      body: draft,
    });
    const { id } = (await made.json()) as { id: string };
    const before = await usageOf(server);
    const late: number[] = [];
    let refused = 0;
    const began = performance.now();
    const total = Number(rate) * Number(seconds);
    const open: Promise<void>[] = [];
    for (let sent = 0; sent < total; sent++) {
      const due = began + (sent / Number(rate)) * 1_000;
      if (due > performance.now() + 1) {
        await pause(due - performance.now());
      }
      // A conversation of its own for each: it is the door that is measured.
      const { headers, body } = callback(
        'slack',
        secrets,
        { text: '/help', key: `b${sent}`, from: `U${sent}` },
        Date.now(),
      );
      open.push(
        post(agent, `${url}/api/v1/im/slack/events?app=${id}`, headers, body).then(
          ({ status, ms }) => {
            late.push(ms);
            refused += status === 200 ? 0 : 1;
          },
        ),
      );
    }
    await Promise.all(open);
    const loaded = await usageOf(server);
    const answered = () => new Set(fake.standing.map(({ to }) => to)).size;
    for (
      let waited = 0;
      answered() < total - refused && waited < Number(patience) * 1_000;
      waited += 500
    ) {
      await pause(500);
    }
    late.sort((a, b) => a - b);
    const at = (share: number): number =>
      Math.round(late[Math.min(late.length - 1, Math.floor(late.length * share))]! * 10) / 10;
    const after = await usageOf(server);
    return {
      ok:
        at(0.99) < goalMs &&
        answered() === total - refused &&
        fake.standing.length === total - refused,
      'messages a second': Number(rate),
      messages: total,
      refused,
      'taken, p50 ms': at(0.5),
      'taken, p99 ms': at(0.99),
      'slowest ms': at(1),
      'goal, p99 ms': goalMs,
      'answered once': answered(),
      'answered twice': fake.standing.length - answered(),
      'until the last answer, s': Math.round((performance.now() - began) / 1_000),
      'memory before, MiB': Math.round(before.rss / mebibyte),
      'memory under load, MiB': Math.round(loaded.rss / mebibyte),
      'memory at the end, MiB': Math.round(after.rss / mebibyte),
    };
  } finally {
    agent.destroy();
    server.kill('SIGKILL');
    await fake.close();
    await model.close();
  }
}

function post(
  agent: Agent,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly status: number; readonly ms: number }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (incoming) => {
        incoming.resume();
        incoming.once('end', () =>
          resolve({ status: incoming.statusCode!, ms: performance.now() - began }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

async function usageOf(server: ChildProcess): Promise<{ readonly rss: number }> {
  server.send('usage');
  const [usage] = (await once(server, 'message')) as [{ rss: number }];
  return usage;
}
