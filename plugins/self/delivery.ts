import type { PushAnswer } from 'svc/contracts/metricsdb';
import {
  type Handle,
  isSvcError,
  type Logger,
  messageOf,
  type Metrics,
  type SelfObservation,
} from 'svc/sdk';

export type Signal = 'metrics' | 'logs' | 'traces';

export interface DeliveryParts {
  readonly self: SelfObservation;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Hands batches to stores, unobserved, and counts what came of them; an outage is logged once, not with every batch. */
export class Delivery {
  readonly #self: SelfObservation;
  readonly #log: Logger;
  readonly #kept: ReturnType<Metrics['counter']>;
  readonly #dropped: ReturnType<Metrics['counter']>;
  readonly #failing = new Set<Signal>();
  readonly #busy = new Set<Signal>();

  constructor({ self, metrics, log }: DeliveryParts) {
    this.#self = self;
    this.#log = log;
    this.#kept = metrics.counter('kept_total', 'Self-monitoring data that was stored.', ['signal']);
    this.#dropped = metrics.counter(
      'dropped_total',
      'Self-monitoring data that was lost, by reason.',
      ['signal', 'reason'],
    );
  }

  /** Returns whether a batch of this signal is in flight. */
  isDelivering(signal: Signal): boolean {
    return this.#busy.has(signal);
  }

  countLost(signal: Signal, count: number, reason: 'full' | 'unavailable'): void {
    this.#dropped.add(count, { signal, reason });
  }

  /** Gives one batch to its store. False when it should be tried again. */
  async deliver<S>(
    signal: Signal,
    store: Handle<S>,
    count: number,
    give: (store: S) => Promise<PushAnswer>,
  ): Promise<boolean> {
    if (!store.available) {
      return false;
    }
    this.#busy.add(signal);
    try {
      this.#record(signal, await this.#self.unobserved(() => give(store.get())));
      return true;
    } catch (error) {
      this.#fail(signal, messageOf(error));
      // A store that refuses this now will refuse it later.
      const isRefused = isSvcError(error) && error.code === 'invalid_argument';
      if (isRefused) {
        this.#dropped.add(count, { signal, reason: 'refused' });
      }
      return isRefused;
    } finally {
      this.#busy.delete(signal);
    }
  }

  #record(signal: Signal, { accepted, rejected, reasons }: PushAnswer): void {
    this.#kept.add(accepted, { signal });
    if (rejected > 0) {
      this.#dropped.add(rejected, { signal, reason: 'refused' });
      this.#fail(signal, reasons.join('; '));
    } else if (this.#failing.delete(signal)) {
      this.#log.info({ signal }, 'self-monitoring data is being stored again');
    }
  }

  #fail(signal: Signal, cause: string): void {
    if (!this.#failing.has(signal)) {
      this.#failing.add(signal);
      this.#log.warn(
        { event: 'self.delivery_failed', signal, cause },
        "failed to store self-monitoring data; retrying until the backlog is full; check this signal's store",
      );
    }
  }
}
