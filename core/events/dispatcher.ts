import { AsyncResource } from 'node:async_hooks';

import { type Clock, type Counter, type Logger, messageOf, withDeadline } from '../sdk/index.ts';
import type { Due, OutboxRows, Settled } from './rows.ts';
import type { TopicHandler } from './topic.ts';

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Tries at the same time, per topic. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** How long `stop` waits for running tries before it tells them to end. */
  readonly graceMs: number;
  readonly tries?: Counter | undefined;
}

/** A lease outlives its try by this, so that settling it is never a race. */
const leaseSlackMs = 30_000;

/** After a message was enqueued its transaction is about to commit; looked for at these distances. */
const soonMs = [3, 15, 60, 250];

/**
 * Takes due messages and hands them to their handlers. Each turn is at most one commit, which settles the tries that
 * ended and leases the next ones. A message is lost at no point: until the commit that deletes it, its row is there.
 */
export class Dispatcher {
  readonly #rows: OutboxRows;
  readonly #options: DispatcherOptions;
  /** By topic; during a reload two generations are there, of which one serves. */
  readonly #handlers = new Map<string, TopicHandler[]>();
  readonly #running = new Map<string, { readonly topic: string; readonly done: Promise<void> }>();
  /** Ended tries that no commit has taken note of yet. */
  #settled: Settled[] = [];
  // Turns must not run inside the transaction or request that happened to wake them.
  readonly #apart = new AsyncResource('svc.outbox');
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;
  #soon: readonly number[] = [];
  #turning: Promise<void> | undefined;
  #turnAgain = false;
  #state: 'new' | 'running' | 'stopped' = 'new';
  #troubled = false;

  constructor(rows: OutboxRows, options: DispatcherOptions) {
    this.#rows = rows;
    this.#options = options;
  }

  /** Takes over what a process before this one has left. One dispatcher per database: the lock of the data folder sees to that. */
  async start(): Promise<void> {
    this.#state = 'running';
    await this.#rows.releaseAll().catch((error: unknown) => this.#trouble(error));
    this.#wake(0);
  }

  /** Takes no more, waits for what runs, and writes down how it ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    await this.#turning;
    await this.#runningEnded(this.#options.graceMs);
    for (const handler of [...this.#handlers.values()].flat()) {
      void handler.end();
    }
    await this.#runningEnded(this.#options.graceMs);
    await this.#settle();
  }

  get handlers(): number {
    return [...this.#handlers.values()].flat().length;
  }

  handle(handler: TopicHandler): void {
    this.#handlers.set(handler.topic, [...(this.#handlers.get(handler.topic) ?? []), handler]);
    this.#wake(0);
  }

  /** Resolves when its running tries have ended. */
  async leave(handler: TopicHandler): Promise<void> {
    const left = (this.#handlers.get(handler.topic) ?? []).filter((other) => other !== handler);
    if (left.length > 0) {
      this.#handlers.set(handler.topic, left);
    } else {
      this.#handlers.delete(handler.topic);
    }
    await handler.end();
  }

  /** A message was enqueued in a transaction that has yet to commit. */
  expect(): void {
    this.#soon = soonMs;
    this.#wake(this.#soon[0]!);
  }

  #wake(inMs: number): void {
    const at = this.#options.clock.monotonic() + inMs;
    if (this.#state !== 'running' || at >= this.#wakeAt) {
      return;
    }
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#apart.runInAsyncScope(() => {
      this.#timer = setTimeout(() => this.#tick(), inMs);
      this.#timer.unref();
    });
  }

  /** Turns never overlap; a wake-up during one is heard after it. */
  #tick(): void {
    this.#wakeAt = Infinity;
    if (this.#turning) {
      this.#turnAgain = true;
      return;
    }
    this.#turning = this.#turn()
      .then(
        () => this.#untroubled(),
        (error: unknown) => this.#trouble(error),
      )
      .finally(() => {
        this.#turning = undefined;
        this.#next();
      });
  }

  #next(): void {
    if (this.#turnAgain) {
      this.#turnAgain = false;
      this.#wake(0);
      return;
    }
    const [soon, ...later] = this.#soon;
    this.#soon = later;
    this.#wake(soon ?? this.#options.pollMs);
  }

  async #turn(): Promise<void> {
    const now = this.#options.clock.now();
    const serving = this.#serving();
    const take = await this.#takeable(serving, now);
    const release = await this.#lapsed(now);
    if (take.length === 0 && release.length === 0 && this.#settled.length === 0) {
      return;
    }
    const settled = [...this.#settled];
    await this.#rows.turn(now, {
      settled,
      release,
      take,
      leaseMs: (topic) => leaseOf(serving.get(topic)!),
    });
    this.#settled = this.#settled.slice(settled.length);
    for (const due of take) {
      this.#begin(serving.get(due.topic)!, due);
    }
    if (settled.length > 0) {
      // A settled message may have held up the next one of its key.
      this.#turnAgain = true;
    }
  }

  /** The handler of each topic that serves at this moment: the newest generation that is committed. */
  #serving(): Map<string, TopicHandler> {
    const serving = [...this.#handlers.values()].map((handlers) =>
      handlers.findLast((handler) => handler.serves),
    );
    return new Map(
      serving.filter((handler) => handler !== undefined).map((handler) => [handler.topic, handler]),
    );
  }

  async #takeable(serving: ReadonlyMap<string, TopicHandler>, now: number): Promise<Due[]> {
    const take: Due[] = [];
    for (const topic of serving.keys()) {
      const busy = [...this.#running.values()].filter((running) => running.topic === topic).length;
      if (busy < this.#options.concurrency) {
        take.push(...(await this.#rows.due(topic, now, this.#options.concurrency - busy)));
      }
    }
    return take;
  }

  /** Leases that ran out, without those of tries whose end is only not written down yet. */
  async #lapsed(now: number): Promise<string[]> {
    const longest = Math.max(0, ...[...this.#handlers.values()].flat().map(leaseOf));
    const overdue = await this.#rows.overdue(now, longest);
    return overdue.filter(
      (id) => !this.#running.has(id) && !this.#settled.some((settled) => settled.id === id),
    );
  }

  #begin(handler: TopicHandler, due: Due): void {
    const done = handler.try(due).then((settled) => {
      this.#running.delete(due.id);
      this.#settled.push(settled);
      this.#options.tries?.add(1, { topic: due.topic, outcome: settled.outcome });
      this.#wake(0);
    });
    this.#running.set(due.id, { topic: due.topic, done });
  }

  async #runningEnded(deadlineMs: number): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map(({ done }) => done));
    await withDeadline<unknown>(ended, deadlineMs, () => undefined);
  }

  /** The last write; what it cannot tell is told again by the next process. */
  async #settle(): Promise<void> {
    if (this.#settled.length > 0) {
      await this.#rows
        .turn(this.#options.clock.now(), {
          settled: this.#settled,
          release: [],
          take: [],
          leaseMs: () => 0,
        })
        .catch((error: unknown) => this.#trouble(error));
    }
  }

  #trouble(error: unknown): void {
    if (!this.#troubled) {
      this.#troubled = true;
      this.#options.log.error(
        { event: 'outbox.store_failed', error, cause: messageOf(error) },
        'could not read or write outbox messages; tried again',
      );
    }
  }

  #untroubled(): void {
    if (this.#troubled) {
      this.#troubled = false;
      this.#options.log.info(
        { event: 'outbox.recovered' },
        'outbox reads and writes its messages again',
      );
    }
  }
}

const leaseOf = (handler: TopicHandler): number => handler.policy.timeoutMs * 2 + leaseSlackMs;
