import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Report } from '../../plugins/investigate/report/markdown.ts';
import type { Outcome, Row } from '../exercise.ts';
import { type Fleet, fleet, seriesPerHost } from './metrics-fleet.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./investigate-fleet-child.ts', import.meta.url));
const everyMs = 15_000;
const ticksPerSecond = 100;

/**
 * Measures investigations of a fleet that pushes everything through the product's API, every
 * fifteen seconds: how long one takes, and how much of a core svc uses in addition to receiving
 * samples.
 */
export async function run({
  hosts = 500,
  series = 500,
  hours = 3,
  reports = 5,
  rounds = 3,
}: {
  readonly hosts?: number;
  readonly series?: number;
  readonly hours?: number;
  readonly reports?: number;
  readonly rounds?: number;
} = {}): Promise<Outcome> {
  const bad = Math.ceil(hosts / 2);
  const house = await start([hosts, hours, bad]);
  // As many exporters on the devices as make the series that each is to have.
  const pushed = fleet(Math.ceil((hosts * series) / seriesPerHost), 1, (number) => [
    ['device_id', String((number % hosts) + 1)],
    ['instance', `exporter-${number}`],
  ]);
  const load = new Load(house, pushed);
  try {
    await draw(house, hosts);
    await house.json('/api/v1/alert-rules', {
      rule_key: 'hot',
      name: 'Hot',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'critical',
      conditions: [{ expr: 'node_cpu_usage_percent > 90' }],
    });
    load.begin();
    await load.past(1);
    const usual = house.spent();
    const from = performance.now();
    await load.past(rounds);
    const cores = (house.spent() - usual) / ((performance.now() - from) / 1_000);
    house.running.kill('SIGUSR2');
    const incident = await fired(house);
    const cases: Row[] = [];
    for (let at = 0; at < reports; at += 1) {
      cases.push(await one(house, { incident, bad, cores, again: at > 0 }));
      await load.past(1);
    }
    const slowest = Math.max(...cases.map((row) => Number(row['seconds'])));
    const most = Math.max(...cases.map((row) => Number(row['cores more'])));
    return {
      ok:
        slowest <= 20 &&
        most <= 1 &&
        cases.every((row) => row['right'] === true) &&
        load.failed === 0,
      hosts,
      series: pushed.series,
      'samples a second': Math.round(load.samples / load.seconds),
      'pushes refused': load.failed,
      why: load.why,
      'cores while samples are taken': rounded(cores),
      'slowest, s': slowest,
      'most cores more': most,
      reports: cases,
    };
  } finally {
    load.end();
    house.running.kill('SIGKILL');
    await once(house.running, 'exit');
  }
}

interface House {
  readonly running: ChildProcess;
  readonly url: string;
  readonly token: string;
  json<T>(path: string, body?: object): Promise<T>;
  /** Seconds of processor, of all its threads. */
  spent(): number;
}

async function start(args: readonly number[]): Promise<House> {
  const running = spawn(process.execPath, [...programOf(child), ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: running.stdout }), 'line'),
    once(running, 'exit').then(() => {
      throw new Error('the house did not start');
    }),
  ])) as [string];
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string };
  return {
    running,
    url,
    token,
    async json<T>(path: string, body?: object) {
      const answer = await fetch(url + path, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      if (!answer.ok) {
        throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      }
      return (await answer.json()) as T;
    },
    spent() {
      const fields = readFileSync(`/proc/${running.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    },
  };
}

/** Pushes every series of every host, once in each round, spread over it. */
class Load {
  readonly #house: Pick<House, 'url' | 'token'>;
  readonly #fleet: Fleet;
  #running: Promise<void> | undefined;
  #isOver = false;
  #rounds = 0;
  #from = 0;
  samples = 0;
  failed = 0;
  why = '';

  constructor(house: Pick<House, 'url' | 'token'>, pushed: Fleet) {
    this.#house = house;
    this.#fleet = pushed;
  }

  get seconds(): number {
    return (performance.now() - this.#from) / 1_000;
  }

  begin(): void {
    this.#from = performance.now();
    this.#running = this.#go();
  }

  end(): void {
    this.#isOver = true;
  }

  /** Resolves so many rounds later. */
  async past(rounds: number): Promise<void> {
    const until = this.#rounds + rounds;
    while (this.#rounds < until && !this.#isOver) {
      await pause(100);
    }
    await Promise.race([this.#running, Promise.resolve()]);
  }

  async #go(): Promise<void> {
    while (!this.#isOver) {
      const begun = performance.now();
      // Phases of hosts lie up to a round ahead of this.
      const requests = this.#fleet.requests(Date.now() - everyMs);
      for (const [at, { body, samples }] of requests.entries()) {
        await pause(Math.max(0, begun + (everyMs * at) / requests.length - performance.now()));
        if (this.#isOver) {
          return;
        }
        await this.#push(body, samples);
      }
      await pause(Math.max(0, begun + everyMs - performance.now()));
      this.#rounds += 1;
    }
  }

  async #push(body: Uint8Array, samples: number): Promise<void> {
    const { url, token } = this.#house;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
    };
    try {
      const answer = await fetch(`${url}/api/v1/write`, {
        method: 'POST',
        headers,
        body: Buffer.from(body),
      });
      const text = await answer.text();
      this.samples += answer.ok ? samples : 0;
      this.failed += answer.ok ? 0 : 1;
      this.why ||= answer.ok ? '' : `${answer.status}: ${text.slice(0, 200)}`;
    } catch (error) {
      if (!this.#isOver) {
        throw error;
      }
    }
  }
}

/**
 * Draws a topology in which each host needs the two after it: a tree, of which an investigation
 * looks at as many nodes as it may.
 */
async function draw(house: House, hosts: number): Promise<void> {
  let nodes = new Map<string, number>();
  for (let tries = 0; tries < 600 && nodes.size < hosts; tries += 1) {
    await pause(100);
    nodes = await hostNodes(house);
  }
  for (let at = 1; at <= hosts; at += 1) {
    for (const other of [2 * at, 2 * at + 1].filter((number) => number <= hosts)) {
      await house.json('/api/v1/topology/relations', {
        type: 'depends_on',
        src_id: nodes.get(String(at))!,
        dst_id: nodes.get(String(other))!,
      });
    }
  }
}

interface Nodes {
  readonly items: readonly { readonly id: number; readonly device_id: string | number | null }[];
  readonly next_cursor: string;
}

async function hostNodes(house: House): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor = '';
  do {
    const page = await house.json<Nodes>(
      `/api/v1/topology/nodes?type=host&limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    page.items.forEach(({ id, device_id: device }) => found.set(String(device), id));
    cursor = page.next_cursor;
  } while (cursor !== '');
  return found;
}

async function fired(house: House): Promise<number> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const { items } = await house.json<{ readonly items: readonly { readonly id: number }[] }>(
      '/api/v1/alerts/incidents?rule=hot',
    );
    if (items[0] !== undefined) {
      return items[0].id;
    }
    await pause(100);
  }
  throw new Error('the alert has not fired');
}

/**
 * Runs one investigation, from its start by a person, or by the alert for the first, to the report.
 */
async function one(
  house: House,
  {
    incident,
    bad,
    cores,
    again,
  }: {
    readonly incident: number;
    readonly bad: number;
    readonly cores: number;
    readonly again: boolean;
  },
): Promise<Row> {
  const spent = house.spent();
  const begun = performance.now();
  const path = `/api/v1/alerts/incidents/${incident}/investigation`;
  if (again) {
    await house.json(path, {});
  }
  for (let tries = 0; tries < 1_200; tries += 1) {
    const report = await house.json<Report>(path);
    if (report.status === 'ready' || report.status === 'failed') {
      const wall = (performance.now() - begun) / 1_000;
      const cpu = house.spent() - spent;
      const { usage, root_cause: cause, evidence, not_seen: notSeen } = report;
      return {
        id: report.id ?? 0,
        seconds: usage.seconds,
        'wall, s': rounded(wall),
        'CPU, s': rounded(cpu),
        // A core is a second of it in a second: what takes two threads for a tenth of one leaves the rest of that second to others.
        'cores more': rounded(Math.max(0, (cpu - cores * wall) / Math.max(1, wall))),
        evidence: evidence.length,
        'not seen': notSeen.length,
        right: cause?.node.id === `device:${bad}`,
      };
    }
    await pause(25);
  }
  throw new Error('an investigation does not end');
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
