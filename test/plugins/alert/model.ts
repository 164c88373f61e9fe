import { hour, interval, minute } from './engine-house.ts';

/**
 * Rules of the model: stated here independently, so that the engine cannot agree with itself alone.
 */
export interface ModelRule {
  readonly key: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly forMs: number;
  readonly damp?: { readonly windowMs: number; readonly min: number };
}

export const modelRules: readonly ModelRule[] = [
  { key: 'now_warning', severity: 'warning', forMs: 0 },
  { key: 'for_critical', severity: 'critical', forMs: minute },
  { key: 'damp_info', severity: 'info', forMs: 0, damp: { windowMs: 10 * minute, min: 2 } },
  { key: 'device_offline', severity: 'critical', forMs: minute },
];

export const devices = ['1', '2', '3'] as const;
export const cooldownMs = 10 * minute;
const ranks = { info: 0, warning: 1, critical: 2 };

type Status = 'open' | 'acknowledged' | 'silenced' | 'resolved';

interface Thing {
  readonly rule: ModelRule;
  readonly device: string;
  // The condition, in seconds that do not jump.
  state: 'clear' | 'pending' | 'firing' | 'held';
  since: number;
  clearOnce: boolean;
  // The incident.
  status: Status | 'none';
  count: number;
  sent: number;
  sentAt: number;
  until: number;
  fires: number[];
  events: string[];
  /** Decisions that each gate has announced. */
  spoken: Map<string, string>;
  dampedAt: number;
}

/**
 * Model of the alert engine, as simple as possible: no database, no queries, no concurrency. One
 * tick evaluates every rule.
 */
export class Model {
  readonly things: Thing[] = modelRules.flatMap((rule) =>
    devices.map((device) => ({
      rule,
      device,
      state: 'clear' as const,
      since: 0,
      clearOnce: false,
      status: 'none' as const,
      count: 0,
      sent: 0,
      sentAt: -Infinity,
      until: 0,
      fires: [],
      events: [],
      spoken: new Map(),
      dampedAt: -Infinity,
    })),
  );
  readonly hot = new Set<string>();
  readonly notices: string[] = [];
  /** Time that passes, and what the wall says beyond it. */
  time = 0;
  drift = 0;
  #lookedAt = new Map<string, number>();
  #blind = new Set<Thing>();
  #blindUntil = 0;

  thing(key: string): Thing {
    return this.things.find((thing) => keyOf(thing) === key)!;
  }

  /** The evaluator looks, at rules whose slot it is. */
  tick(due: ReadonlySet<string>): void {
    for (const thing of this.things) {
      if (thing.status === 'silenced' && thing.until <= this.time + this.drift) {
        this.#move(thing, 'open', 'reopened');
        this.#remind(thing);
      }
    }
    this.#gates(this.things);
    // Worst first, since they hold back the others.
    const looked = this.things.filter(({ rule }) => due.has(rule.key));
    const touched = new Set<Thing>();
    for (const thing of looked) {
      this.#look(thing, touched);
    }
    due.forEach((key) => this.#lookedAt.set(key, this.time));
    this.#gates([...touched]);
  }

  #look(thing: Thing, touched: Set<Thing>): void {
    const last = this.#lookedAt.get(thing.rule.key);
    const continuous = last !== undefined && this.time - last <= hour;
    const paused = continuous && this.time - last > 2 * interval ? this.time - last - interval : 0;
    const isHot = this.hot.has(keyOf(thing));
    if (thing.state === 'clear' || thing.state === 'pending') {
      if (!isHot) {
        thing.state = 'clear';
        return;
      }
      if (thing.state === 'clear' || !continuous) {
        thing.since = this.time;
      } else {
        thing.since += paused;
      }
      thing.state = this.time - thing.since >= thing.rule.forMs ? 'firing' : 'pending';
      if (thing.state === 'firing') {
        this.#fire(thing, touched);
      }
      return;
    }
    if (!isHot && this.#blind.has(thing) && this.time < this.#blindUntil) {
      return;
    }
    if (!isHot) {
      if (thing.clearOnce && continuous) {
        const wasFiring = thing.state === 'firing';
        thing.state = 'clear';
        thing.clearOnce = false;
        if (wasFiring) {
          this.#resolve(thing);
        }
        touched.add(thing);
      }
      thing.clearOnce = thing.state !== 'clear';
      return;
    }
    thing.clearOnce = false;
    if (thing.state === 'held') {
      if (this.time - thing.since >= cooldownMs) {
        thing.state = 'firing';
        this.#fire(thing, touched);
      }
      return;
    }
  }

  #fire(thing: Thing, touched: Set<Thing>): void {
    thing.clearOnce = false;
    const isNew = thing.status === 'none';
    thing.count += 1;
    thing.status = 'open';
    thing.events.push(...(isNew ? [] : ['reopened open']), 'firing open');
    touched.add(thing);
    this.#count(thing, touched);
  }

  #count(thing: Thing, touched: Set<Thing>): void {
    const { damp } = thing.rule;
    if (damp !== undefined && thing.status !== 'resolved' && thing.sent < thing.count) {
      thing.fires = [
        ...thing.fires.filter((at) => at > this.time - damp.windowMs),
        this.time,
      ].slice(-damp.min);
      touched.add(thing);
    }
  }

  #gates(things: readonly Thing[]): void {
    for (const thing of things) {
      if (
        thing.status !== 'open' ||
        thing.sent >= thing.count ||
        thing.state !== 'firing' ||
        thing.clearOnce
      ) {
        continue;
      }
      const gate = this.#closed(thing);
      if (gate === undefined) {
        thing.sent = thing.count;
        thing.sentAt = this.time;
        this.notices.push(`firing ${thing.count} ${keyOf(thing)}`);
      } else if (
        gate.name === 'dampening'
          ? this.time - thing.dampedAt >= thing.rule.damp!.windowMs
          : thing.spoken.get(gate.name) !== gate.what
      ) {
        thing.spoken.set(gate.name, gate.what);
        thing.dampedAt = gate.name === 'dampening' ? this.time : thing.dampedAt;
        thing.events.push(gate.name === 'inhibition' ? 'inhibited open' : 'repeat_suppressed open');
      }
    }
  }

  #closed(thing: Thing): { readonly name: string; readonly what: string } | undefined {
    const others = this.things.filter(
      (other) =>
        other !== thing &&
        other.device === thing.device &&
        other.status !== 'none' &&
        other.status !== 'resolved',
    );
    const before = thing.spoken.get('inhibition');
    const inhibitors = others.filter(
      (other) =>
        other.rule.key === 'device_offline' ||
        ranks[other.rule.severity] > ranks[thing.rule.severity],
    );
    // The strongest is named; here there is one of each kind.
    const strength = ({ rule }: Thing): number =>
      rule.key === 'device_offline' ? 9 : ranks[rule.severity];
    const whats = inhibitors
      .sort((a, b) => strength(b) - strength(a))
      .map((other) => `${thing.count} ${keyOf(other)}`);
    if (whats.length > 0) {
      return {
        name: 'inhibition',
        what: before !== undefined && whats.includes(before) ? before : whats[0]!,
      };
    }
    if (thing.rule.severity !== 'critical' && this.time - thing.sentAt < cooldownMs) {
      return { name: 'cooldown', what: String(thing.sent) };
    }
    const { damp } = thing.rule;
    if (
      damp !== undefined &&
      thing.fires.filter((at) => at > this.time - damp.windowMs).length < damp.min
    ) {
      return { name: 'dampening', what: '' };
    }
    return undefined;
  }

  #move(thing: Thing, status: Status, event: string): void {
    thing.status = status;
    thing.events.push(`${event} ${status}`);
  }

  #resolve(thing: Thing): void {
    if (thing.status === 'resolved' || thing.status === 'none') {
      return;
    }
    this.#move(thing, 'resolved', 'resolved');
    if (thing.sent === thing.count) {
      this.notices.push(`resolved ${thing.count} ${keyOf(thing)}`);
    }
  }

  #remind(thing: Thing): void {
    if (thing.sent === thing.count && this.time - thing.sentAt >= cooldownMs) {
      thing.sentAt = this.time;
      this.notices.push(`reminder ${thing.count} ${keyOf(thing)}`);
    }
  }

  /** Applies a user's action; false if refused. */
  act(thing: Thing, act: 'ack' | 'silence' | 'unsilence' | 'resolve'): boolean {
    const { status } = thing;
    switch (act) {
      case 'ack':
        if (status === 'open') {
          this.#move(thing, 'acknowledged', 'acknowledged');
          this.notices.push(`acknowledged ${thing.count} ${keyOf(thing)}`);
        }
        return status === 'open' || status === 'acknowledged';
      case 'silence':
        if (status === 'open') {
          thing.until = this.time + this.drift + hour / 2;
          this.#move(thing, 'silenced', 'silenced');
        }
        if (status === 'silenced' && this.time + this.drift + hour / 2 - thing.until > minute) {
          thing.until = this.time + this.drift + hour / 2;
          this.#move(thing, 'silenced', 'silenced');
          return true;
        }
        return (
          status === 'open' ||
          (status === 'silenced' &&
            Math.abs(this.time + this.drift + hour / 2 - thing.until) <= minute)
        );
      case 'unsilence':
        if (status === 'silenced') {
          this.#move(thing, 'open', 'reopened');
          this.#remind(thing);
          this.#gates([thing]);
        }
        return status === 'open' || status === 'silenced';
      case 'resolve':
        if (thing.state === 'firing' && status !== 'resolved') {
          thing.state = 'held';
          thing.since = this.time;
        }
        this.#resolve(thing);
        return true;
    }
  }

  /**
   * Jumps in time, without evaluation until the next tick; a jump delays slots, and a wall that is
   * behind hides the end of what fires.
   */
  jump(ms: number): void {
    this.drift += ms;
    if (ms !== 0) {
      this.#blind = new Set(this.things.filter(({ state }) => state === 'firing'));
      this.#blindUntil = this.time + Math.min(-this.drift, 15 * minute);
    }
  }

  restart(): void {
    this.#blind.clear();
  }
}

export const keyOf = ({ rule, device }: Pick<Thing, 'rule' | 'device'>): string =>
  `${rule.key}:host:${device}`;
