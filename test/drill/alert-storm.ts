import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { password } from '../trust/household.ts';
import { cpuSeconds, startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { StormReceiver } from './alert-storm-receiver.ts';

const mostMs = 60_000;
const mostMessages = 20;
const mostReadMs = 100;
const pushMs = 5_000;
/** Time limit beyond what is allowed, to see how late it was. */
const patienceMs = 150_000;

/** Each instance an incident of its own, and all of them in one. */
const rules = [
  { rule_key: 'storm_apart', dimensions: ['unit'] },
  { rule_key: 'storm_together', dimensions: [] },
];
const reads = ['/api/v1/alerts/incidents?limit=50', '/api/v1/devices?limit=20'];

/**
 * Measures a storm at the real server: one rule over thousands of instances that all fire at once,
 * and later recover at once. Every instance is notified within a minute, in few messages, and
 * readers are not slowed down. `rule`: that one alone.
 */
export async function run({
  instances = 10_000,
  rule: only,
}: { readonly instances?: number; readonly rule?: string } = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-alert-storm-'));
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const receiver = await new StormReceiver().listen(t);
    const cases: Row[] = [];
    for (const rule of rules.filter(({ rule_key: key }) => only === undefined || key === only)) {
      const house = await startWholeHouse({
        dataDir: join(dir, rule.rule_key),
        environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
      });
      try {
        cases.push(...(await play(house, receiver, { rule, instances })));
      } finally {
        await house.end('SIGKILL');
      }
    }
    return { ok: cases.every(({ ok }) => ok === true), instances, cases };
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Storm {
  readonly rule: (typeof rules)[number];
  readonly instances: number;
}

async function play(
  house: WholeHouse,
  receiver: StormReceiver,
  { rule, instances }: Storm,
): Promise<Row[]> {
  const frame = {
    name: rule.rule_key,
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'critical',
  };
  const annotations = { summary: 'heat {{ $value }} of {{ $labels.unit }}' };
  await post(house, '/api/v1/alert-rules', {
    ...frame,
    ...rule,
    annotations,
    conditions: [{ expr: 'storm_heat > 1' }],
  });
  await post(house, '/api/v1/notification-channels', {
    name: 'hook',
    channel_type: 'webhook',
    endpoint: receiver.hook,
  });
  const readers = await Promise.all(
    reads.map(async (path, at) => new Reader(house, path, await person(house, `reader${at}`))),
  );
  let value = 0;
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      await push(house, instances, value);
      await pause(pushMs);
    }
  })();
  try {
    await pause(40_000);
    const rows: Row[] = [
      { rule: rule.rule_key, event: 'nothing', ok: true, ...latencyOf(readers) },
    ];
    for (const event of ['firing', 'resolved'] as const) {
      value = event === 'firing' ? 5 : 0;
      const [began, cpu] = [performance.now(), cpuSeconds(house.pid)];
      await push(house, instances, value);
      const seen = await told(house, receiver, { rule: rule.rule_key, event, instances });
      const latency = latencyOf(readers);
      const ms = Math.round(seen.wallMs - (await changedAt(house, rule.rule_key, event)));
      const isRead = Object.values(latency).every((p99) => Number(p99) < mostReadMs);
      rows.push({
        rule: rule.rule_key,
        event,
        ok: seen.why === '' && ms <= mostMs && seen.messages <= mostMessages && isRead,
        'all told after, ms': ms,
        'since they were sent, ms': Math.round(seen.at - began),
        messages: seen.messages,
        'told by name': seen.named,
        'found by the links': seen.linked,
        'CPU s': Math.round(cpuSeconds(house.pid) - cpu),
        ...latency,
        ...(seen.why !== '' && { why: seen.why }),
      });
      // The next one is another message about the same group, not the rest of this one.
      await pause(20_000);
      latencyOf(readers);
    }
    return rows;
  } finally {
    isOver = true;
    await sending;
    await Promise.all(readers.map((one) => one.end()));
  }
}

const latencyOf = (readers: readonly Reader[]): Row =>
  Object.fromEntries(readers.map((one) => one.take()));

/** Returns when its instances began to fire, or to be well; all are from one evaluation. */
async function changedAt(
  house: WholeHouse,
  rule: string,
  event: 'firing' | 'resolved',
): Promise<number> {
  const answer = await house.fetch(`/api/v1/alerts/incidents?rule=${rule}&limit=1`);
  const { items } = (await answer.json()) as {
    readonly items: readonly {
      readonly last_fired_at: string;
      readonly resolved_at: string | null;
    }[];
  };
  return Date.parse((event === 'firing' ? items[0]?.last_fired_at : items[0]?.resolved_at) ?? '');
}

interface Telling {
  readonly at: number;
  readonly wallMs: number;
  readonly messages: number;
  readonly named: number;
  readonly linked: number;
  /** Failure; empty if there is none. */
  readonly why: string;
}

/** Waits until the messages about a rule speak of all its instances, then opens their links and looks for each of them there. */
async function told(
  house: WholeHouse,
  receiver: StormReceiver,
  {
    rule,
    event,
    instances,
  }: { readonly rule: string; readonly event: 'firing' | 'resolved'; readonly instances: number },
): Promise<Telling> {
  const until = performance.now() + patienceMs;
  const isTogether = rule === 'storm_together';
  const all = (): number =>
    receiver
      .of(rule, event)
      .reduce((sum, { count }) => (isTogether ? Math.max(sum, count) : sum + count), 0);
  // The end of one incident is said once for all of it.
  const enough = isTogether && event === 'resolved' ? 1 : instances;
  while (all() < enough && performance.now() < until) {
    await pause(50);
  }
  const [at, wallMs] = [performance.now(), Date.now()];
  // What would come twice comes then.
  await pause(3_000);
  const said = receiver.of(rule, event);
  const linked = new Set<string>();
  for (const { link } of said) {
    for (let next: string | undefined = house.url + new URL(link).pathname; next !== undefined;) {
      const page = await (await fetch(next)).text();
      for (const [unit] of page.matchAll(/\bu\d+\b/g)) {
        linked.add(unit);
      }
      const more: string | undefined = /<a rel="next" href="(\?from=\d+)"/.exec(page)?.[1];
      next = more === undefined ? undefined : new URL(more, next).href;
    }
  }
  const why = [
    ...(all() === enough ? [] : [`${all()} of ${enough} were told`]),
    ...(linked.size === instances ? [] : [`the links lead to ${linked.size} of ${instances}`]),
  ];
  return {
    at,
    wallMs,
    messages: said.length,
    named: new Set(said.flatMap(({ units }) => units)).size,
    linked: linked.size,
    why: why.join('; '),
  };
}

/** One person who asks for one page again and again. */
class Reader {
  readonly #path: string;
  readonly #reading: Promise<void>;
  #times: number[] = [];
  #isOver = false;

  constructor(house: WholeHouse, path: string, token: string) {
    this.#path = path;
    this.#reading = this.#read(house, token);
  }

  /** Returns the figures since the last call. */
  take(): readonly [name: string, p99: number] {
    const times = this.#times.toSorted((a, b) => a - b);
    this.#times = [];
    return [
      `p99 of ${this.#path}, ms`,
      Math.round(times[Math.floor(times.length * 0.99)] ?? Number.NaN),
    ];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#reading;
  }

  async #read(house: WholeHouse, token: string): Promise<void> {
    while (!this.#isOver) {
      const began = performance.now();
      const answer = await house.fetch(this.#path, {
        headers: { authorization: `Bearer ${token}` },
      });
      await answer.arrayBuffer();
      this.#times.push(answer.ok ? performance.now() - began : Infinity);
      await pause(50);
    }
  }
}

async function push(house: WholeHouse, instances: number, value: number): Promise<void> {
  const now = Date.now();
  const lines = Array.from(
    { length: instances },
    (_, unit) => `storm_heat{unit="u${unit}",job="drill",instance="drill:1"} ${value} ${now}\n`,
  );
  const answer = await house.fetch('/api/v1/import/prometheus', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: lines.join(''),
  });
  if (!answer.ok) {
    throw new Error(`a push was answered ${answer.status}: ${await answer.text()}`);
  }
}

async function post(
  house: WholeHouse,
  path: string,
  body: object,
): Promise<{ readonly access_token?: string }> {
  const answer = await house.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) {
    throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  }
  return (await answer.json()) as { readonly access_token?: string };
}

async function person(house: WholeHouse, name: string): Promise<string> {
  const email = `${name}@example.org`;
  await post(house, '/api/v1/users', { email, display_name: name, role: 'viewer', password });
  return (await post(house, '/api/v1/auth/login', { email, password })).access_token!;
}
