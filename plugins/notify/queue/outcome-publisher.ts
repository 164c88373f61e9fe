import type { Notice, NoticeSource, Outcome } from 'svc/contracts/notify';
import {
  type Clock,
  type Counter,
  type Handle,
  type Logger,
  messageOf,
  type Tables,
  timestamp,
} from 'svc/sdk';

import {
  isDelayUnrecorded,
  isUnsentTo,
  type OutcomeConsumer,
} from '../store/delivery-conditions.ts';
import type { Delivery, Notify, NotifyTables } from '../store/tables.ts';

export interface OutcomePublisherParts {
  readonly tables: Tables<NotifyTables>;
  readonly source: Handle<NoticeSource>;
  readonly announce: (outcome: Outcome) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outcomes?: Counter;
}

/** Batches in one go; what is beyond them comes the next time. */
const maxBatches = 10;

const batch = 200;
const maxAtOnce = 50;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/** Publishes the outcome of every delivery: to the source of notices until it has taken it, as an event once. */
export class OutcomePublisher {
  readonly #parts: OutcomePublisherParts;
  /** Outcomes that the source could not take: how often, and until when they wait. */
  readonly #refused = new Map<number, { readonly times: number; readonly until: number }>();

  constructor(parts: OutcomePublisherParts) {
    this.#parts = parts;
  }

  /**
   * Publishes outcomes; returns whether to look again soon: outcomes were found, or their consumer
   * is missing.
   */
  async publish(): Promise<boolean> {
    let found = 0;
    for (let batches = 0; batches < maxBatches; batches++) {
      const published = await this.#publishBatch();
      found += published.found;
      if (!published.more) {
        break;
      }
    }
    return found > 0 || !this.#parts.source.available;
  }

  async #publishBatch(): Promise<{ readonly found: number; readonly more: boolean }> {
    const { tables, source } = this.#parts;
    const delays = await this.#recordDelays();
    const announced = await this.#announceBatch();
    const unrecorded = source.available
      ? await new OutcomeStore(tables.read).unsent('recorded', batch)
      : [];
    const recorded = await this.#recordAll(unrecorded);
    return {
      found: delays + announced + unrecorded.length,
      more: announced === batch || (unrecorded.length === batch && recorded > 0),
    };
  }

  /** Records, before their ends, deliveries that could not be sent so far; returns their number. */
  async #recordDelays(): Promise<number> {
    const { tables, source } = this.#parts;
    const late = source.available
      ? await new OutcomeStore(tables.read).unrecordedDelays(batch)
      : [];
    for (const row of late) {
      if (!(await this.#record(row, delayOf(row)))) {
        return late.length;
      }
    }
    if (late.length > 0) {
      await tables.write((tx) =>
        new OutcomeStore(tx).markDelaysRecorded(late.map(({ seq }) => seq)),
      );
    }
    return late.length;
  }

  async #announceBatch(): Promise<number> {
    const { tables, announce, outcomes } = this.#parts;
    const fresh = await new OutcomeStore(tables.read).unsent('announced', batch);
    if (fresh.length > 0) {
      const seqs = fresh.map(({ seq }) => seq);
      await tables.write((tx) => new OutcomeStore(tx).markSent('announced', seqs));
      for (const row of fresh) {
        const outcome = outcomeOf(row);
        announce(outcome);
        outcomes?.add(1, { result: outcome.result });
      }
    }
    return fresh.length;
  }

  /**
   * Records outcomes at once if the source supports it; else incidents in parallel, the outcomes of
   * one in order.
   */
  async #recordAll(rows: readonly Delivery[]): Promise<number> {
    const { source, tables } = this.#parts;
    if (rows.length > 1 && this.#refused.size === 0) {
      try {
        await source.get().record(rows.map(outcomeOf));
        await tables.write((tx) =>
          new OutcomeStore(tx).markSent(
            'recorded',
            rows.map(({ seq }) => seq),
          ),
        );
        return rows.length;
      } catch (error) {
        this.#parts.log.debug(
          { event: 'notify.outcomes_not_recorded', cause: messageOf(error) },
          'failed to record delivery outcomes in bulk; recording one by one',
        );
      }
    }
    return await this.#recordEach(rows);
  }

  async #recordEach(rows: readonly Delivery[]): Promise<number> {
    const byIncident = new Map<number, Delivery[]>();
    for (const row of rows) {
      byIncident.set(row.incident_id, [...(byIncident.get(row.incident_id) ?? []), row]);
    }
    const all = [...byIncident.values()];
    let count = 0;
    for (let from = 0; from < all.length; from += maxAtOnce) {
      const incidents = all.slice(from, from + maxAtOnce);
      const recorded = (
        await Promise.all(incidents.map((deliveries) => this.#recordInOrder(deliveries)))
      ).flat();
      await this.#parts.tables.write((tx) => new OutcomeStore(tx).markSent('recorded', recorded));
      count += recorded.length;
    }
    return count;
  }

  async #recordInOrder(rows: readonly Delivery[]): Promise<number[]> {
    const recorded: number[] = [];
    for (const row of rows) {
      if (!(await this.#record(row, outcomeOf(row)))) {
        break;
      }
      recorded.push(row.seq);
    }
    return recorded;
  }

  /** Records an outcome; returns whether the source has accepted it. */
  async #record(row: Delivery, outcome: Outcome): Promise<boolean> {
    const { source, clock, log } = this.#parts;
    const refused = this.#refused.get(row.seq);
    if (refused !== undefined && refused.until > clock.monotonic()) {
      return false;
    }
    try {
      await source.get().record([outcome]);
    } catch (error) {
      const times = (refused?.times ?? 0) + 1;
      this.#refused.set(row.seq, {
        times,
        until: clock.monotonic() + Math.min(firstWaitMs * 2 ** (times - 1), longestWaitMs),
      });
      log.warn(
        { event: 'notify.outcome_not_recorded', delivery: row.id, times, cause: messageOf(error) },
        'failed to record a delivery outcome on its incident; retrying',
      );
      return false;
    }
    this.#refused.delete(row.seq);
    return true;
  }
}

/** Outcomes of deliveries, and which consumers have received them. */
class OutcomeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Deliveries that have ended and whose outcome the consumer has not been given, oldest first. */
  unsent(consumer: OutcomeConsumer, limit: number): Promise<Delivery[]> {
    return this.#db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where(isUnsentTo(consumer))
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  async markSent(consumer: OutcomeConsumer, seqs: readonly number[]): Promise<void> {
    if (seqs.length > 0) {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ [consumer]: 1 })
        .where('seq', 'in', seqs)
        .execute();
    }
  }

  /** Deliveries that could not be sent so far, which the source of notices has not been given, oldest first. */
  unrecordedDelays(limit: number): Promise<Delivery[]> {
    return this.#db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where(isDelayUnrecorded)
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  async markDelaysRecorded(seqs: readonly number[]): Promise<void> {
    await this.#db
      .updateTable('notify_deliveries')
      .set({ delay_recorded: 1 })
      .where('seq', 'in', seqs)
      .execute();
  }
}

const outcomeOf = (row: Delivery): Outcome => ({
  delivery_id: row.id,
  notice_id: row.notice_id!,
  incident_id: row.incident_id,
  kind: row.kind as Notice['kind'],
  channel_id: row.channel_id,
  channel_name: row.channel_name,
  result: resultOf(row),
  attempts: row.attempts,
  ...(row.error !== null && row.got === 0 && { error: row.error }),
  at: timestamp(row.finished_at!),
});

const delayOf = (row: Delivery): Outcome => ({
  ...outcomeOf({ ...row, finished_at: row.delayed_at }),
  delivery_id: `${row.id}/delayed`,
  result: 'delayed',
  ...(row.error !== null && { error: row.error }),
});

/** A row is folded by the digest that took it to the channel, or by a resolve that made it idle before anything took it there. */
const resultOf = ({ state, got }: Delivery): Outcome['result'] =>
  state === 'folded' && got === 0 ? 'overtaken' : (state as Outcome['result']);
