import {
  type Clock,
  type Gauge,
  type HealthReport,
  type Logger,
  messageOf,
  timestamp,
} from 'svc/sdk';

import { genesis, type Link } from '../rows/chain.ts';
import { entryOf } from '../rows/record.ts';
import type { Store } from '../rows/store.ts';
import type { Row } from '../rows/tables.ts';
import type { Batch, Sink } from './sink.ts';

export interface ShipmentParts {
  readonly store: Store;
  /** The sink of this moment; undefined if there is none, throws if its address is malformed. */
  readonly sink: () => Sink | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly behind: Gauge;
  /** Resolves after a time, or when there may be something new. */
  readonly rest: (ms: number) => Promise<void>;
}

/** Progress of the sink. */
export interface ShipmentState {
  readonly sink: string | null;
  readonly shipped: number;
  readonly last: number;
  readonly behind: number;
  readonly failing_since: string | null;
  readonly error: string | null;
}

const mostRows = 500;
const mostBytes = 256 * 1024;
/** Time after which changed settings and forgotten hints are noticed. */
const longestRestMs = 5_000;
const [firstRetryMs, longestRetryMs] = [1_000, 60_000];
/** Time for which a sink may be away before the health of the plugin says so. */
const toleratedMs = 5 * 60_000;

/**
 * Ships the trail to its sink: in order, each row at least once. There is no queue beside the trail: the place of a sink in it
 * moves in the database when the sink has acknowledged a batch, so a kill repeats a batch and loses none.
 */
export class Shipment {
  readonly #parts: ShipmentParts;
  #retryMs = 0;
  #failing: { readonly since: number; readonly cause: string } | undefined;

  constructor(parts: ShipmentParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.rest(await this.#turn(signal));
    }
  }

  async state(): Promise<ShipmentState> {
    const { store } = this.#parts;
    const place = this.#place();
    const { last } = await store.span();
    const shipped = place === undefined ? 0 : ((await store.shipped(place))?.seq ?? 0);
    return {
      sink: place ?? null,
      shipped,
      last,
      behind: place === undefined ? 0 : Math.max(0, last - shipped),
      failing_since: this.#failing === undefined ? null : timestamp(this.#failing.since),
      error: this.#failing?.cause ?? null,
    };
  }

  health(): HealthReport {
    const { clock } = this.#parts;
    return this.#failing === undefined || clock.now() - this.#failing.since < toleratedMs
      ? { ok: true }
      : {
          ok: true,
          degraded: true,
          detail: `shipping to the sink has failed since ${timestamp(this.#failing.since)}: ${this.#failing.cause}`,
        };
  }

  /** Number of the row up to which rows may leave the database: all, or those that the sink has. */
  async released(): Promise<number> {
    const { store, sink } = this.#parts;
    let place: string | undefined;
    try {
      place = sink()?.place;
    } catch {
      // A malformed address is reported by the shipment; until it is corrected, everything stays.
      return 0;
    }
    return place === undefined ? Infinity : ((await store.shipped(place))?.seq ?? 0);
  }

  /** Ships one batch; returns how long to rest. */
  async #turn(signal: AbortSignal): Promise<number> {
    const { sink, store, clock, behind } = this.#parts;
    try {
      const target = sink();
      if (target === undefined) {
        this.#failing = undefined;
        return longestRestMs;
      }
      const { last } = await store.span();
      const from = await this.#from(target, last);
      behind.set(Math.max(0, last - from.seq));
      const rows = fitting(await store.next(from.seq, mostRows));
      if (rows === undefined) {
        this.#well();
        return longestRestMs;
      }
      const waits = target.lingerMs - (clock.now() - entryOf(rows[0].record).occurred_at);
      if (rows.length < mostRows && waits > 0 && waits <= target.lingerMs) {
        return Math.min(waits, longestRestMs);
      }
      await target.send(rows, signal);
      const { seq, hash } = rows.at(-1)!;
      await store.ship({ place: target.place, seq, hash, at: clock.now() });
      this.#well();
      behind.set(Math.max(0, last - seq));
      return 0;
    } catch (error) {
      return signal.aborted ? 0 : this.#ill(error);
    }
  }

  /**
   * Returns the row that the sink has last. Where the trail ends before it, it was cut off and goes on with other rows: the sink
   * gets all of them once more, and whoever compares finds both.
   */
  async #from({ place }: Sink, last: number): Promise<Link> {
    const shipped = (await this.#parts.store.shipped(place)) ?? genesis;
    if (shipped.seq <= last) {
      return shipped;
    }
    this.#parts.log.error(
      { event: 'audit.cut_behind_sink', shipped: shipped.seq, last },
      'audit log ends before the last entry that its sink received: it was truncated, or a backup was restored',
    );
    return genesis;
  }

  #place(): string | undefined {
    try {
      return this.#parts.sink()?.place;
    } catch {
      // Reported as the error of the shipment.
      return undefined;
    }
  }

  #well(): void {
    if (this.#failing !== undefined) {
      this.#parts.log.info({ event: 'audit.sink_back' }, 'audit log shipping has recovered');
    }
    this.#failing = undefined;
    this.#retryMs = 0;
  }

  #ill(error: unknown): number {
    const { clock, log } = this.#parts;
    const cause = messageOf(error);
    if (this.#failing === undefined) {
      log.warn(
        { event: 'audit.sink_failed', cause },
        'failed to ship the audit log; keeping its entries to ship later',
      );
    }
    this.#failing = { since: this.#failing?.since ?? clock.now(), cause };
    this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2 || firstRetryMs);
    return this.#retryMs;
  }
}

/** Returns as many of the rows as one batch takes; undefined if there are none. */
function fitting(rows: readonly Row[]): Batch | undefined {
  const [first, ...others] = rows;
  if (first === undefined) {
    return undefined;
  }
  let left = mostBytes - first.record.length;
  const upTo = others.findIndex(({ record }) => (left -= record.length) < 0);
  return [first, ...others.slice(0, upTo < 0 ? others.length : upTo)];
}
