import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type Counter, type EventType, type Logger, type MaybePromise, messageOf } from '../sdk/index.ts';
import { frozenCopy } from './frozen.ts';
import { inTime } from './in-time.ts';

/** A subscription as the registry holds it. */
export interface Subscriber<Owner> {
  readonly key: string;
  readonly owner: Owner;
  readonly value: { readonly type: string; readonly listener: (event: unknown) => MaybePromise<void> };
}

export type Subscriptions<Owner> = ReadonlyMap<string, Subscriber<Owner>>;

export interface BusOptions<Owner> {
  /** Who listens at this moment; the same object as long as nothing has changed. */
  readonly subscriptions: () => Subscriptions<Owner>;
  /** Runs a delivery on the owner's account: pinned in its scope, an error is its strike. */
  readonly deliver: (owner: Owner, label: string, work: () => Promise<void>) => Promise<void>;
  readonly log: Logger;
  /** Counts events that a slow subscriber missed, by `subscriber`. */
  readonly dropped?: Counter;
  /** Events that may wait for one subscriber; default 1,000. */
  readonly queueLimit?: number;
  /** Deadline of one delivery; default 30 s. */
  readonly deliverMs?: number;
}

export interface Bus {
  /** Tells everybody who listens at this moment; returns before anybody has heard. */
  emit(type: EventType<unknown>['id'], event: unknown): void;
  /** Resolves when nothing waits and nobody works. */
  idle(): Promise<void>;
  /** Subscriptions with events that wait or are being delivered. */
  readonly busy: number;
}

/** What waits for one subscription. It outlives a reload: the next generation goes on where the one before stopped. */
interface Queue {
  readonly key: string;
  readonly events: unknown[];
  /** Lost since the queue was last empty. */
  lost: number;
}

/** Deliveries in a row before other work of the process gets its turn. */
const batch = 64;

export function createBus<Owner>({ subscriptions, deliver, log, dropped, queueLimit = 1_000, deliverMs = 30_000 }: BusOptions<Owner>): Bus {
  const queues = new Map<string, Queue>();
  const idlers = new Set<() => void>();
  // Deliveries must not run in the request, transaction or delivery that happened to emit.
  const apart = new AsyncResource('svc.events');
  const listenersOf = indexed(subscriptions);

  const enqueue = (key: string, event: unknown): void => {
    const queue = queues.get(key);
    if (!queue) {
      const fresh: Queue = { key, events: [event], lost: 0 };
      queues.set(key, fresh);
      apart.runInAsyncScope(() => void drain(fresh));
      return;
    }
    queue.events.push(event);
    if (queue.events.length > queueLimit) {
      queue.events.shift();
      overflowed(queue);
    }
  };

  const overflowed = (queue: Queue): void => {
    if (queue.lost === 0) {
      log.warn({ subscriber: queue.key, limit: queueLimit }, `${queue.key} is too slow for its events; the oldest are dropped`);
    }
    queue.lost += 1;
    dropped?.add(1, { subscriber: queue.key });
  };

  /** Delivers one at a time, in order, until nothing waits or nobody listens any more. */
  const drain = async (queue: Queue): Promise<void> => {
    for (let delivered = 0; queue.events.length > 0; delivered += 1) {
      if (delivered % batch === 0) {
        await nextTurn();
      }
      const subscriber = subscriptions().get(queue.key);
      if (!subscriber) {
        break;
      }
      await deliverOne(subscriber, queue.events.shift());
    }
    queues.delete(queue.key);
    if (queue.lost > 0) {
      log.warn({ subscriber: queue.key, lost: queue.lost }, `${queue.key} has caught up and missed ${queue.lost} events`);
    }
    if (queues.size === 0) {
      [...idlers].forEach((idle) => idle());
      idlers.clear();
    }
  };

  const deliverOne = async ({ key, owner, value }: Subscriber<Owner>, event: unknown): Promise<void> => {
    try {
      await deliver(owner, `event ${value.type}`, () => inTime(deliverMs, `${key} did not finish`, async () => value.listener(event)));
    } catch (error) {
      // The port reports errors itself; what still comes through must not end the queue.
      log.error({ subscriber: key, error }, `delivery to ${key} failed: ${messageOf(error)}`);
    }
  };

  return {
    emit(type, event) {
      const copy = frozenCopy(event, type);
      for (const { key } of listenersOf(type)) {
        enqueue(key, copy);
      }
    },
    get busy() {
      return queues.size;
    },
    idle: () =>
      queues.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            idlers.add(resolve);
          }),
  };
}

/** Subscribers by event type, computed once for each table of subscriptions. */
function indexed<Owner>(subscriptions: () => Subscriptions<Owner>): (type: string) => readonly Subscriber<Owner>[] {
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
