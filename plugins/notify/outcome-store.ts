import { timestamp } from 'svc/sdk';

import type { Notice, Outcome } from './contract.ts';
import { isUnsentTo, type OutcomeConsumer } from './delivery-conditions.ts';
import type { Delivery, Notify } from './tables.ts';

/** Deliveries that have ended, until each consumer of outcomes has been given them. */
export class OutcomeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Oldest first. */
  unsent(consumer: OutcomeConsumer, limit: number): Promise<Delivery[]> {
    return this.#db.selectFrom('notify_deliveries').selectAll().where(isUnsentTo(consumer)).orderBy('seq').limit(limit).execute();
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
}

export const outcomeOf = (row: Delivery): Outcome => ({
  delivery_id: row.id,
  notice_id: row.notice_id!,
  incident_id: row.incident_id,
  kind: row.kind as Notice['kind'],
  channel_id: row.channel_id,
  channel_name: row.channel_name,
  result: row.state as Outcome['result'],
  attempts: row.attempts,
  ...(row.error !== null && row.state === 'failed' && { error: row.error }),
  at: timestamp(row.finished_at!),
});
