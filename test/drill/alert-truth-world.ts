import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { WholeHouse } from '../whole-house.ts';
import type { Ends } from './alert-prometheus-units.ts';

interface Notice {
  readonly event: string;
  readonly incident: {
    readonly labels: Readonly<Record<string, string>>;
    readonly event_count: number;
  };
  readonly rule: { readonly rule_key: string };
}

/** True state of one unit, with the last notification about it. */
interface Unit {
  burns: boolean;
  told: 'firing' | 'resolved' | 'nothing';
  /** Position of that among all notifications about it. */
  place: number;
}

export const ruleKey = 'truth';
/** Unit whose runs are a series each, one of which always fires. */
const churning = 9;
const runMs = 4_000;
const pushMs = 500;

/**
 * World of units that fire or not, what they send, and the notifications about them. No unit
 * changes before the receiver knows its state, so any other notification is false.
 */
export class World {
  readonly units = new Map<string, Unit>(
    Array.from({ length: 10 }, (_, unit) => [
      String(unit),
      { burns: unit === churning, told: 'nothing', place: 0 },
    ]),
  );
  readonly faults: string[] = [];
  readonly counts = { firings: 0, resolves: 0, messages: 0 };
  /** Offset of the senders' clocks from that of this process. */
  offsetMs = 0;
  isMuted = false;
  house: WholeHouse | undefined;
  /** Address at which it listens. */
  hook = '';
  /** Notifications of other rules, by key and event. */
  readonly others: string[] = [];
  readonly #keys = new Set<string>();

  async listen(t: Ends): Promise<this> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.#take(
          String(request.headers['idempotency-key']),
          JSON.parse(Buffer.concat(pieces).toString('utf8')) as Notice & {
            notices?: readonly Notice[];
          },
        );
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
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

  /** Changes one unit whose state the receiver knows; the number picks it. */
  flip(number: number): void {
    const known = [...this.units].filter(([id, unit]) => id !== String(churning) && isKnown(unit));
    const [, unit] = known[number % Math.max(1, known.length)] ?? [];
    if (unit !== undefined) {
      unit.burns = !unit.burns;
    }
  }

  /** Waits until the receiver knows the state of every unit; records what was never sent. */
  async isTold(when: string, withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (![...this.units.values()].every(isKnown)) {
      if (performance.now() > until) {
        const lost = [...this.units]
          .filter(([, unit]) => !isKnown(unit))
          .map(([id, { burns, told }]) => `${id} ${burns ? 'burns' : 'is well'}, told ${told}`);
        this.faults.push(`${when}: lost: ${lost.join('; ')}`);
        return;
      }
      await pause(50);
    }
  }

  #take(key: string, body: Notice & { readonly notices?: readonly Notice[] }): void {
    // A delivery may come again after a kill.
    if (this.#keys.has(key)) {
      return;
    }
    this.#keys.add(key);
    this.counts.messages += 1;
    const entries = (body.notices ?? [body]).filter(
      ({ incident }) => incident !== null && incident !== undefined,
    );
    for (const { event, incident, rule } of entries.toSorted((a, b) => placeOf(a) - placeOf(b))) {
      const unit = rule.rule_key === ruleKey ? this.units.get(incident.labels['unit']!) : undefined;
      if (unit === undefined) {
        this.others.push(`${rule.rule_key} ${event}`);
        continue;
      }
      const place = placeOf({ event, incident });
      if (place <= unit.place) {
        continue;
      }
      unit.place = place;
      unit.told = event === 'resolved' ? 'resolved' : 'firing';
      this.counts[event === 'resolved' ? 'resolves' : 'firings'] += 1;
      if (!isKnown(unit)) {
        this.faults.push(
          `false ${event}: unit ${incident.labels['unit']} ${unit.burns ? 'burns' : 'is well'}`,
        );
      }
    }
  }

  async #push(): Promise<void> {
    const now = Date.now() + this.offsetMs;
    const lines = [...this.units].map(([id, { burns }]) => {
      const run = id === String(churning) ? `,run="${Math.floor(now / runMs)}"` : '';
      return `truth_heat{unit="${id}",job="drill",instance="drill:1"${run}} ${burns ? 5 : 0} ${now}\n`;
    });
    if (this.isMuted || this.house === undefined) {
      return;
    }
    // Refused or not: a sender whose clock is an hour away is not always taken.
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

const isKnown = ({ burns, told }: Unit): boolean => (burns ? told === 'firing' : told !== 'firing');
const placeOf = ({ event, incident }: Pick<Notice, 'event' | 'incident'>): number =>
  incident.event_count * 2 + (event === 'resolved' ? 1 : 0);
