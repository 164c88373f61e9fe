import { type Handle, isSvcError, type Logger, messageOf, type Metrics, type SelfObservation } from 'svc/sdk';

import type { PushAnswer } from '../metricsdb/contract.ts';

export type Signal = 'metrics' | 'logs' | 'traces';

export interface KeeperParts {
  readonly self: SelfObservation;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export interface Keeper {
  /** Gives one batch to its store. False when it should be tried again. */
  keep<S>(signal: Signal, store: Handle<S>, count: number, give: (store: S) => Promise<PushAnswer>): Promise<boolean>;
  lost(signal: Signal, count: number, reason: 'full' | 'unavailable'): void;
  /** Whether a batch of this signal is on its way. */
  isKeeping(signal: Signal): boolean;
}

/** Brings batches into stores, unobserved, and counts what came of them; an outage is told once, not with every batch. */
export function createKeeper({ self, metrics, log }: KeeperParts): Keeper {
  const kept = metrics.counter('kept_total', 'What this process has told about itself and is stored.', ['signal']);
  const dropped = metrics.counter('dropped_total', 'What this process has told about itself and is lost, by why.', ['signal', 'reason']);
  const out = new Set<Signal>();
  const busy = new Set<Signal>();

  function failed(signal: Signal, cause: string): void {
    if (!out.has(signal)) {
      out.add(signal);
      log.warn({ signal, cause }, 'what this process tells about itself cannot be kept at the moment');
    }
  }

  return {
    isKeeping: (signal) => busy.has(signal),
    lost: (signal, count, reason) => dropped.add(count, { signal, reason }),
    async keep(signal, store, count, give) {
      if (!store.available) {
        return false;
      }
      busy.add(signal);
      try {
        const { accepted, rejected, reasons } = await self.unobserved(() => give(store.get()));
        kept.add(accepted, { signal });
        if (rejected > 0) {
          dropped.add(rejected, { signal, reason: 'refused' });
          failed(signal, reasons.join('; '));
        } else if (out.delete(signal)) {
          log.info({ signal }, 'what this process tells about itself is kept again');
        }
        return true;
      } catch (error) {
        failed(signal, messageOf(error));
        // What a store does not want it will not want later.
        const hopeless = isSvcError(error) && error.code === 'invalid_argument';
        if (hopeless) {
          dropped.add(count, { signal, reason: 'refused' });
        }
        return hopeless;
      } finally {
        busy.delete(signal);
      }
    },
  };
}
