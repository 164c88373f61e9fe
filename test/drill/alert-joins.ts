import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost } from 'svc/testing';

import type { Outcome } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { numbers } from '../plugins/alert/random.ts';
import { edgeFleet, PretendFleet } from '../plugins/ingest/house.ts';
import { startPrometheus } from './alert-prometheus.ts';
import { startAlertmanager } from './alert-prometheus-groups.ts';
import type { Ends } from './alert-prometheus-units.ts';

/** Imported rule without a `by`, as most that ask for hosts are. */
const rule = { alert: 'UnitDown', expr: 'unit_down == 1' };
const units = 40;
const grouping = {
  group_by: ['alertname'],
  group_wait: '5s',
  group_interval: '20s',
  repeat_interval: '1h',
};
/**
 * Time within which an episode must be told: an interval of its group and ten seconds, after the
 * scrape and the evaluation that find it.
 */
const withinMs = 30_000 + 2 * 5_000;

interface Episode {
  readonly unit: string;
  readonly from: number;
  readonly to: number;
}

/** Units that go down and come back for as long as the drill takes, known beforehand. */
class World {
  readonly #began = Date.now();
  readonly #episodes: readonly Episode[];

  constructor(seconds: number, seed: number) {
    const random = numbers(seed);
    this.#episodes = Array.from({ length: units }, (_, unit) => unit).flatMap((unit) => {
      const own: Episode[] = [];
      let at = 10_000 + random(120_000);
      while (at < seconds * 1_000) {
        const to = at + 12_000 + random(80_000);
        own.push({ unit: `u${unit}`, from: at, to });
        at = to + 20_000 + random(200_000);
      }
      return own;
    });
  }

  /** Episodes that have begun long enough ago to have been told. */
  get over(): readonly Episode[] {
    const until = Date.now() - this.#began - withinMs;
    return this.#episodes
      .filter(({ from }) => from < until)
      .map(({ unit, from, to }) => ({ unit, from: this.#began + from, to: this.#began + to }));
  }

  async listen(t: Ends): Promise<string> {
    const server = createServer((_request, response) => {
      const now = Date.now() - this.#began;
      const down = new Set(
        this.#episodes.filter(({ from, to }) => from <= now && now < to).map(({ unit }) => unit),
      );
      const lines = Array.from(
        { length: units },
        (_, unit) => `unit_down{unit="u${unit}"} ${down.has(`u${unit}`) ? 1 : 0}\n`,
      );
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(lines.join(''));
    });
    return `127.0.0.1:${await port(t, server)}`;
  }
}

async function port(t: Ends, server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

interface Instance {
  readonly labels: Readonly<Record<string, string>>;
}

/** Receiver that keeps when each unit was named as firing, or as one that fired meanwhile. */
class Names {
  messages = 0;
  readonly named: { readonly at: number; readonly unit: string }[] = [];

  async listen(t: Ends, unitsOf: (body: never) => readonly Instance[]): Promise<string> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.messages += 1;
        const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as never;
        for (const { labels } of unitsOf(body)) {
          this.named.push({ at: Date.now(), unit: labels['unit']! });
        }
        response.end('ok');
      });
    });
    return `http://127.0.0.1:${await port(t, server)}/hook`;
  }

  /** Compares what was named with what has happened. */
  judge(episodes: readonly Episode[]): { readonly units: number; readonly inTime: number } {
    const down = new Set(episodes.map(({ unit }) => unit));
    const inTime = episodes.filter(({ unit, from }) =>
      this.named.some((one) => one.unit === unit && from <= one.at && one.at <= from + withinMs),
    );
    return {
      units: [...down].filter((unit) => this.named.some((one) => one.unit === unit)).length,
      inTime: inTime.length,
    };
  }
}

interface OurBody {
  readonly incident: Instance & {
    readonly instances?: readonly Instance[];
    readonly left?: readonly Instance[];
  };
}

const ourUnits = ({ incident }: OurBody): readonly Instance[] => [
  ...(incident.instances ?? [incident]),
  ...(incident.left ?? []),
];

const theirUnits = ({ alerts }: { readonly alerts: readonly Instance[] }): readonly Instance[] =>
  alerts;

/**
 * Compares who is named when units of one rule join and leave all the time, with an Alertmanager of
 * the same grouping: a real Prometheus scrapes, alerts it, and writes its samples to svc.
 */
export async function run({
  seconds = 1_800,
  seed = Date.now() % 100_000,
}: {
  readonly seconds?: number;
  readonly seed?: number;
} = {}): Promise<Outcome> {
  const [program, manager] = [findPeer('prometheus'), findPeer('prometheus-alertmanager')];
  if (program === undefined || manager === undefined) {
    return {
      ok: false,
      why: 'a peer is not installed (Debian: apt-get install prometheus prometheus-alertmanager)',
    };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const [ours, theirs] = [new Names(), new Names()];
    const house = await startTestHost(t, {
      plugins: ['iam', 'session', 'ingest', edgeFleet, 'metricsdb', 'alert', 'notify'],
      environment: { SVC_ALERT_EVAL_INTERVAL: '5s', SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
      services: { 'test.fleet': new PretendFleet() },
    });
    const content = JSON.stringify({ groups: [{ name: 'g', interval: '5s', rules: [rule] }] });
    const post = (path: string, body: object) =>
      house.json(`/api/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('alert-rules/import', { content });
    const endpoint = await ours.listen(t, ourUnits);
    await post('notification-channels', {
      name: 'hook',
      channel_type: 'webhook',
      endpoint,
      ...grouping,
    });
    const hook = await theirs.listen(t, theirUnits);
    const alertmanager = await startAlertmanager(t, manager, hook, grouping);
    const world = new World(seconds, seed);
    const target = await world.listen(t);
    await startPrometheus(t, program, {
      house,
      target,
      alertmanager,
      rules: content,
      keep: 'unit_down',
    });
    await pause(seconds * 1_000);
    const episodes = world.over;
    const [mine, yours] = [ours.judge(episodes), theirs.judge(episodes)];
    const down = new Set(episodes.map(({ unit }) => unit)).size;
    return {
      ok: mine.units >= down * 0.99 && mine.inTime >= episodes.length * 0.99,
      seed,
      seconds,
      load: loadavg()[0]!.toFixed(1),
      'units that fired': down,
      'of these named, ours': mine.units,
      'of these named, theirs': yours.units,
      episodes: episodes.length,
      'told in time, ours': mine.inTime,
      'told in time, theirs': yours.inTime,
      'messages, ours': ours.messages,
      'messages, theirs': theirs.messages,
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}
