import { isDelayUnrecorded, isUnsentTo, type OutcomeConsumer } from './delivery-conditions.ts';
import type { Delivery, Notify } from './tables.ts';

/** What became of deliveries, and who has been given it. */
export class OutcomeStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Deliveries that have ended and whose outcome the consumer has not been given, oldest first. */
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

  /** Deliveries that could not be sent so far, which the source of notices has not been given, oldest first. */
  unrecordedDelays(limit: number): Promise<Delivery[]> {
    return this.#db.selectFrom('notify_deliveries').selectAll().where(isDelayUnrecorded).orderBy('seq').limit(limit).execute();
  }

  async markDelaysRecorded(seqs: readonly number[]): Promise<void> {
    await this.#db.updateTable('notify_deliveries').set({ delay_recorded: 1 }).where('seq', 'in', seqs).execute();
  }
}
