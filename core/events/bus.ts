import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

import {
  type Counter,
  type EventType,
  type Logger,
  type MaybePromise,
  messageOf,
  type SvcError,
  withDeadline,
} from '../sdk/index.ts';
import { errors } from './errors.ts';

/** A subscription as the registry holds it. */
export interface Subscriber<Owner> {
  readonly key: string;
  readonly owner: Owner;
  readonly value: {
    readonly type: string;
    readonly listener: (event: unknown) => MaybePromise<void>;
  };
}

type Subscriptions<Owner> = ReadonlyMap<string, Subscriber<Owner>>;

export interface BusOptions<Owner> {
  /** Returns the current subscriptions; the same object until anything changes. */
  readonly subscriptions: () => Subscriptions<Owner>;
  /** Runs a delivery on the owner's account: pinned in its scope, an error is its strike. */
  readonly deliver: (owner: Owner, label: string, work: () => Promise<void>) => Promise<void>;
  readonly log: Logger;
  /** Counts events that a slow subscriber missed, by `subscriber`. */
  readonly dropped?: Counter;
  /** Events that may wait for one subscriber; default 1,000. */
  readonly queueLimit?: number;
  /** Deadline of one delivery; default 60 s, as a pack may have to start for it. */
  readonly deliverMs?: number;
}

/**
 * Queue of one subscription. It outlives a reload: the next generation continues where the previous
 * one stopped.
 */
interface Queue {
  readonly key: string;
  readonly events: unknown[];
  /** Lost since the queue was last empty. */
  lost: number;
}

/** Deliveries in a row before other work of the process gets its turn. */
const batch = 64;

/** Tells subscribers of events: each in order, one delivery at a time, and none waits for another. */
export class Bus<Owner> {
  readonly #options: BusOptions<Owner> & {
    readonly queueLimit: number;
    readonly deliverMs: number;
  };
  readonly #queues = new Map<string, Queue>();
  readonly #idlers = new Set<() => void>();
  readonly #listenersOf: (type: string) => readonly Subscriber<Owner>[];
  // Deliveries must not run in the request, transaction or delivery that happened to emit.
  readonly #apart = new AsyncResource('svc.events');

  constructor(options: BusOptions<Owner>) {
    this.#options = { queueLimit: 1_000, deliverMs: 60_000, ...options };
    this.#listenersOf = indexed(options.subscriptions);
  }

  /** Subscriptions with events that wait or are being delivered. */
  get busy(): number {
    return this.#queues.size;
  }

  /** Queues the event for all who listen at this moment; returns before any of them has it. */
  emit(type: EventType<unknown>['id'], event: unknown): void {
    const copy = frozenCopy(event, type);
    for (const { key } of this.#listenersOf(type)) {
      this.#enqueue(key, copy);
    }
  }

  /** Resolves when no event waits and none is being delivered. */
  idle(): Promise<void> {
    return this.#queues.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => void this.#idlers.add(resolve));
  }

  #enqueue(key: string, event: unknown): void {
    const queue = this.#queues.get(key);
    if (!queue) {
      const fresh: Queue = { key, events: [event], lost: 0 };
      this.#queues.set(key, fresh);
      this.#apart.runInAsyncScope(() => void this.#drain(fresh));
      return;
    }
    queue.events.push(event);
    if (queue.events.length > this.#options.queueLimit) {
      queue.events.shift();
      this.#overflowed(queue);
    }
  }

  #overflowed(queue: Queue): void {
    const { log, dropped, queueLimit } = this.#options;
    if (queue.lost === 0) {
      log.warn(
        { event: 'events.queue_full', subscriber: queue.key, limit: queueLimit },
        'event subscriber is too slow; dropping its oldest events',
      );
    }
    queue.lost += 1;
    dropped?.add(1, { subscriber: queue.key });
  }

  /** Delivers one at a time, in order, until nothing waits or the subscription is gone. */
  async #drain(queue: Queue): Promise<void> {
    for (let delivered = 0; queue.events.length > 0; delivered += 1) {
      if (delivered % batch === 0) {
        await nextTurn();
      }
      const subscriber = this.#options.subscriptions().get(queue.key);
      if (!subscriber) {
        break;
      }
      await this.#deliverThrough(subscriber, queue.events.shift());
    }
    this.#queues.delete(queue.key);
    if (queue.lost > 0) {
      this.#options.log.warn(
        { event: 'events.caught_up', subscriber: queue.key, lost: queue.lost },
        'event subscriber caught up; events were dropped',
      );
    }
    if (this.#queues.size === 0) {
      [...this.#idlers].forEach((idle) => idle());
      this.#idlers.clear();
    }
  }

  /** Delivers an event; where a reload cut that off, again to the generation that followed. */
  async #deliverThrough(subscriber: Subscriber<Owner>, event: unknown): Promise<void> {
    for (let to = subscriber; !(await this.#deliver(to, event));) {
      const next = this.#options.subscriptions().get(subscriber.key);
      if (next === undefined || next.owner === to.owner) {
        return;
      }
      to = next;
    }
  }

  /** Returns whether the subscriber has taken the event. */
  async #deliver({ key, owner, value }: Subscriber<Owner>, event: unknown): Promise<boolean> {
    const { deliver, deliverMs, log } = this.#options;
    let isTaken = false;
    const hand = async (): Promise<void> => {
      await value.listener(event);
      isTaken = true;
    };
    try {
      const late = (): Promise<void> =>
        Promise.reject(errors.listener_late({ listener: key, ms: deliverMs }));
      await deliver(owner, `event ${value.type}`, () => withDeadline(hand(), deliverMs, late));
    } catch (error) {
      // The port reports errors itself; what still comes through must not end the queue.
      log.error(
        { event: 'events.delivery_failed', subscriber: key, error, cause: messageOf(error) },
        'failed to deliver an event; this subscriber missed it',
      );
    }
    return isTaken;
  }
}

/** Subscribers by event type, computed once for each table of subscriptions. */
function indexed<Owner>(
  subscriptions: () => Subscriptions<Owner>,
): (type: string) => readonly Subscriber<Owner>[] {
  const indexes = new WeakMap<Subscriptions<Owner>, Map<string, Subscriber<Owner>[]>>();
  return (type) => {
    const table = subscriptions();
    let index = indexes.get(table);
    if (!index) {
      index = grouped(table);
      indexes.set(table, index);
    }
    return index.get(type) ?? [];
  };
}

function grouped<Owner>(table: Subscriptions<Owner>): Map<string, Subscriber<Owner>[]> {
  const index = new Map<string, Subscriber<Owner>[]>();
  for (const subscriber of table.values()) {
    const others = index.get(subscriber.value.type) ?? [];
    index.set(subscriber.value.type, [...others, subscriber]);
  }
  return index;
}

const maxDepth = 32;

/**
 * A frozen copy of plain data. One copy serves every subscriber: none of them can change what the others see, and the
 * emitter may go on changing its own object.
 */
const frozenCopy = (event: unknown, type: string): unknown => frozen(event, type, '', 0);

function frozen(value: unknown, type: string, path: string, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw unfit(type, path, `a ${typeof value}`);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= maxDepth) {
    throw unfit(type, path, `data nested deeper than ${maxDepth} levels`);
  }
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item, at) => frozen(item, type, `${path}/${at}`, depth + 1)));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw unfit(type, path, `a ${value.constructor.name}`);
  }
  return Object.freeze(
    Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        frozen(part, type, `${path}/${key}`, depth + 1),
      ]),
    ),
  );
}

const unfit = (type: string, path: string, what: string): SvcError =>
  errors.event_no_data({ type, what, at: path === '' ? '' : ` at ${path}` });
