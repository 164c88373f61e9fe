import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import { Authenticator, type Principal } from 'svc/sdk';
import { startTestHost, type TestHost } from 'svc/testing';

import { activeKey } from '../../plugins/chat/session/store.ts';
import type { Outcome, Row } from '../exercise.ts';
import { directory, persona, registry, say, ScriptedRunner } from '../plugins/chat/stand-ins.ts';
import { changedOnPurpose } from '../on-purpose.ts';

const goalMs = 30;
const day = 86_400_000;

/**
 * Measures the time of lists and histories among many sessions, and of one more message in a
 * session that has become long.
 */
export async function run({
  sessions = 10_000,
  messages = 200,
  asked = 300,
  long = 5_000,
  turns = 40,
}: Row = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-chat-history-'));
  try {
    const first = await house(dataDir);
    const [young, old] = [await open(first), await open(first)];
    await first.stop();
    fill(join(dataDir, 'svc.db'), {
      sessions: Number(sessions),
      messages: Number(messages),
      long: Number(long),
      old,
    });
    changedOnPurpose(dataDir);
    const kit = await house(dataDir);
    const fresh = (): Times => ({ wall: [], cpu: [] });
    const times = { list: fresh(), deep: fresh(), history: fresh() };
    let cursor = '';
    for (let at = 0; at < Number(asked); at++) {
      await timed(times.list, () => get(kit, '/api/v1/chat/sessions?limit=50'));
      cursor = (
        await timed(times.deep, () =>
          get(kit, `/api/v1/chat/sessions?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`),
        )
      )['next_cursor'] as string;
      const session = `s-${String((at * 7_919) % Number(sessions)).padStart(6, '0')}`;
      await timed(times.history, () =>
        get(kit, `/api/v1/chat/sessions/${session}/messages?limit=50`),
      );
    }
    const [short, grown] = [
      await cost(kit, young, Number(turns)),
      await cost(kit, old, Number(turns)),
    ];
    await kit.stop();
    const figures = Object.entries(times).map(([what, { wall, cpu }]) => ({
      what,
      'p50 ms': percentile(wall, 0.5),
      'p99 ms': percentile(wall, 0.99),
      'CPU p99 ms': percentile(cpu, 0.99),
    }));
    return {
      ok: figures.every((row) => row['p99 ms'] < goalMs) && grown < short * 1.5,
      sessions: Number(sessions),
      'messages in each': Number(messages),
      'goal, p99 ms': goalMs,
      'load of the machine': Math.round(loadavg()[0]!),
      figures,
      'CPU of a message in a new session, ms': short,
      [`after ${long} messages, ms`]: grown,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function house(dataDir: string): Promise<TestHost> {
  const tools = registry();
  return startTestHost(
    { after: () => undefined },
    {
      dataDir,
      plugins: ['chat'],
      services: {
        [Authenticator.id]: {
          authenticate: ({ value }: { value: string }): Principal => ({
            kind: 'user',
            id: value,
            role: 'user',
            grants: [],
          }),
        },
        'model.stream': {
          usable: () => ({ ok: true, model: 'bench/one', context: 32_000 }),
          async *stream() {
            yield* say('All is well.');
          },
        },
        'persona.directory': directory(persona()),
        'skill.registry': tools,
        'skill.run': new ScriptedRunner(tools, () => Promise.resolve('')),
        'gate.decide': { decide: () => ({ verdict: 'run' }) },
      },
    },
  );
}

const headers = { authorization: 'Bearer 7', 'content-type': 'application/json' };

async function get(kit: TestHost, path: string): Promise<Record<string, unknown>> {
  const answer = await kit.fetch(path, { headers });
  if (!answer.ok) {
    throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
  return (await answer.json()) as Record<string, unknown>;
}

async function open(kit: TestHost): Promise<string> {
  const answer = await kit.fetch('/api/v1/chat/sessions', { method: 'POST', headers, body: '{}' });
  return ((await answer.json()) as { id: string }).id;
}

/** CPU of this process for one message, median. */
async function cost(kit: TestHost, session: string, turns: number): Promise<number> {
  const all: number[] = [];
  for (let at = 0; at < turns; at++) {
    const from = process.cpuUsage();
    const answer = await kit.fetch(`/api/v1/chat/sessions/${session}/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ content: `Question ${at}?` }),
    });
    await answer.text();
    if (!answer.ok) {
      throw new Error(`a message was answered with ${answer.status}`);
    }
    const { user, system } = process.cpuUsage(from);
    all.push((user + system) / 1_000);
  }
  all.sort((a, b) => a - b);
  return Math.round(all[Math.floor(all.length / 2)]! * 10) / 10;
}

/** Writes rows as the plugin does; their texts are as long as those of people and models. */
function fill(
  file: string,
  {
    sessions,
    messages,
    long,
    old,
  }: { sessions: number; messages: number; long: number; old: string },
): void {
  const db = new Database(file);
  db.pragma('synchronous = off');
  const session = db.prepare(
    `insert into chat_sessions (id, owner, user_id, title, titled, tags, digest, created_at, updated_at, last_message_at, active)
     values (?, 'user:7', 7, ?, 0, '[]', '{"asks":[],"decisions":[],"evidence":[]}', ?, ?, ?, ?)`,
  );
  const message = db.prepare(
    `insert into chat_messages (session_id, run_id, role, content, tool_calls, usage, finish_reason, created_at) values (?, ?, ?, ?, '[]', null, null, ?)`,
  );
  const said =
    'The disk of db-3 fills up at 2 GB an hour since 02:00, when the rotation of its logs stopped; see [E12]. '.repeat(
      3,
    );
  const talk = (id: string, count: number): void => {
    for (let at = 0; at < count; at++) {
      message.run(id, `r-${at >> 1}`, at % 2 === 0 ? 'user' : 'assistant', said, at);
    }
  };
  db.transaction(() => {
    for (let at = 0; at < sessions; at++) {
      const [id, when] = [`s-${String(at).padStart(6, '0')}`, Date.now() - day + at];
      session.run(id, `Session ${at}`, when, when, when, activeKey(when, id));
      talk(id, messages);
    }
    talk(old, long);
  })();
  db.close();
}

interface Times {
  readonly wall: number[];
  /** CPU time of this process, which excludes what a busy machine adds. */
  readonly cpu: number[];
}

async function timed<T>({ wall, cpu }: Times, work: () => Promise<T>): Promise<T> {
  const [from, used] = [performance.now(), process.cpuUsage()];
  const result = await work();
  wall.push(performance.now() - from);
  const { user, system } = process.cpuUsage(used);
  cpu.push((user + system) / 1_000);
  return result;
}

function percentile(all: readonly number[], share: number): number {
  const sorted = all.toSorted((a, b) => a - b);
  return (
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 10) / 10
  );
}
