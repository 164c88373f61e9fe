import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { WholeHouse } from '../whole-house.ts';
import type { Ends } from './alert-prometheus-units.ts';

interface Entry {
  readonly event: string;
  readonly incident: {
    readonly labels: Readonly<Record<string, string>>;
    readonly event_count: number;
    readonly ended_because?: string;
  };
  readonly rule: { readonly rule_key: string };
}

/** One thing that one message said. */
export interface Said {
  readonly at: number;
  /** Key of the message: a retry has the same. */
  readonly key: string;
  readonly channel: string;
  readonly rule: string;
  readonly event: 'firing' | 'reminder' | 'resolved' | 'over';
  readonly unit: string;
  readonly round: number;
}

/** Reaction of a receiver to a message: it answers, or does whatever an attacker may think of. */
export type Mood = (answer: () => void) => void;

const pushMs = 500;
/** Time that a message may be in transit, and an evaluation behind. */
const graceMs = 25_000;

/**
 * Series that breach or not, by scene and unit, the notifications about them, and whether those
 * were true.
 */
export class Ground {
  readonly said: Said[] = [];
  readonly faults: string[] = [];
  /** Reaction of the receiver in each scene. */
  readonly moods = new Map<string, Mood>();
  /** Scenes whose source is away. */
  readonly away = new Set<string>();
  /** Additional labels of the series of a scene. */
  readonly churn = new Map<string, () => string>();
  messages = 0;
  house: WholeHouse | undefined;
  hook = '';
  /** When each series changed, and to what. */
  readonly #truth = new Map<string, { readonly at: number; readonly burns: boolean }[]>();

  async listen(t: Ends): Promise<this> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const channel = (request.url ?? '').slice(1);
        this.#take(
          channel,
          String(request.headers['idempotency-key']),
          JSON.parse(Buffer.concat(pieces).toString('utf8')),
        );
        const answer = (): void => void response.end('ok');
        (this.moods.get(channel) ?? ((say) => say()))(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await this.#push();
        await pause(pushMs);
      }
    })();
    t.after(async () => {
      isOver = true;
      await sending;
      server.closeAllConnections();
      server.close();
    });
    return this;
  }

  set(scene: string, unit: string, burns: boolean): void {
    const series = `${scene} ${unit}`;
    this.#truth.set(series, [...(this.#truth.get(series) ?? []), { at: Date.now(), burns }]);
  }

  /** Returns the notifications of a channel about a rule, without duplicates. */
  told(channel: string, rule: string): readonly string[] {
    const seen = new Set<string>();
    return this.said
      .filter(
        (one) =>
          one.channel === channel &&
          one.rule === rule &&
          !seen.has(one.key + one.unit) &&
          seen.add(one.key + one.unit),
      )
      .map(({ event, unit, round }) => `${event} ${unit}.${round}`);
  }

  /** Messages about a rule that came more than once, and how often at most. */
  again(channel: string, rule: string): readonly number[] {
    const times = new Map<string, number>();
    this.said
      .filter((one) => one.channel === channel && one.rule === rule)
      .forEach(({ key, unit }) => times.set(key + unit, (times.get(key + unit) ?? 0) + 1));
    return [...times.values()].filter((count) => count > 1);
  }

  async until(scene: string, what: string, isSo: () => boolean, withinMs = 60_000): Promise<void> {
    for (const deadline = performance.now() + withinMs; !isSo(); await pause(50)) {
      if (performance.now() > deadline) {
        this.faults.push(`${scene}: ${what} is not so`);
        return;
      }
    }
  }

  expect(scene: string, found: readonly unknown[], wanted: readonly unknown[]): void {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      this.faults.push(`${scene}: told ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
    }
  }

  #take(channel: string, key: string, body: Entry & { readonly notices?: readonly Entry[] }): void {
    const at = Date.now();
    this.messages += 1;
    for (const { event, incident, rule } of body.notices ?? [body]) {
      const { scene = '', unit = '' } = incident.labels;
      const said =
        event === 'resolved' && incident.ended_because !== undefined
          ? 'over'
          : (event as Said['event']);
      this.said.push({
        at,
        key,
        channel,
        rule: rule.rule_key,
        event: said,
        unit,
        round: incident.event_count,
      });
      const claims = said === 'resolved' ? false : said === 'over' ? undefined : true;
      if (claims !== undefined && !this.#wasSo(`${scene} ${unit}`, claims, at)) {
        this.faults.push(
          `a lie to ${channel}: ${rule.rule_key} ${event} of unit ${unit}, which ${claims ? 'is well' : 'burns'}`,
        );
      }
    }
  }

  /** Returns whether it was so at any moment just before. */
  #wasSo(series: string, burns: boolean, at: number): boolean {
    const changes = this.#truth.get(series) ?? [];
    return changes.some(
      (change, index) =>
        change.burns === burns &&
        change.at <= at &&
        (changes[index + 1]?.at ?? Infinity) >= at - graceMs,
    );
  }

  async #push(): Promise<void> {
    const now = Date.now();
    const lines = [...this.#truth].flatMap(([series, changes]) => {
      const [scene = '', unit = ''] = series.split(' ');
      const more = this.churn.get(scene)?.() ?? '';
      return this.away.has(scene)
        ? []
        : [
            `attack_heat{scene="${scene}",unit="${unit}",job="${scene}",instance="${scene}:1"${more}} ${changes.at(-1)!.burns ? 5 : 0} ${now}\n`,
          ];
    });
    if (this.house !== undefined && lines.length > 0) {
      await this.house
        .fetch('/api/v1/import/prometheus', {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: lines.join(''),
        })
        .then((answer) => answer.text())
        .catch(() => undefined);
    }
  }
}
