import type { Job } from 'svc/jobs';

import type { MessageJob } from '../store/message-queue.ts';
import { type Memory, MessageStore } from '../store/message-store.ts';
import type { ImTables, MessageRow } from '../store/tables.ts';

/** Message under the lease of its job; every write about it is fenced by that lease. */
export class LeasedMessage {
  readonly #job: Job<MessageJob, ImTables>;
  #row: MessageRow;
  #isDoubtful: boolean;

  constructor(row: MessageRow, job: Job<MessageJob, ImTables>) {
    this.#row = row;
    this.#job = job;
    // One of before there were jobs has its tries in its row.
    this.#isDoubtful = job.epoch > 1 || row.tries > 0;
  }

  get row(): MessageRow {
    return this.#row;
  }

  /** True if the platform may show something that the row does not know of. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  doubt(): void {
    this.#isDoubtful = true;
  }

  get write(): Job<MessageJob, ImTables>['write'] {
    return this.#job.write;
  }

  async keep(memory: Memory): Promise<void> {
    await this.write((tx) => new MessageStore(tx).keep(this.#row.id, memory));
    this.#row = { ...this.#row, ...memory };
  }

  /** Sets the session, which a transaction of the lease has stored. */
  inSession(session: string | null): void {
    this.#row = { ...this.#row, session_id: session };
  }
}
