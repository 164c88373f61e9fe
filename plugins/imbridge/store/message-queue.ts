import type { Jobs } from 'svc/jobs';
import type { Tables } from 'svc/sdk';

import { MessageStore, type NewMessage } from './message-store.ts';
import type { ImTables, MessageRow } from './tables.ts';

/** What a job carries: this message is to be dealt with. */
export interface MessageJob {
  readonly kind: MessageRow['kind'];
}

export const messageJobs = 'message';

/** Nothing of what was said is shown. */
const titles = {
  message: 'Answer a message',
  action: 'Carry out a button',
  tell: 'Tell a conversation',
};

/** Messages that wait to be dealt with: each has a job of its id, keyed by its run, in the lane of its thread. */
export class MessageQueue {
  readonly #tables: Tables<ImTables>;
  readonly #jobs: Jobs<ImTables>;

  constructor(tables: Tables<ImTables>, jobs: Jobs<ImTables>) {
    this.#tables = tables;
    this.#jobs = jobs;
  }

  /** Which of them were new. */
  async add(messages: readonly NewMessage[]): Promise<ReadonlySet<string>> {
    if (messages.length === 0) {
      return new Set();
    }
    return await this.#tables.write(async (tx) => {
      const fresh = await new MessageStore(tx).add(messages);
      await this.#enqueue(
        tx,
        messages.filter(({ id }) => fresh.has(id)),
      );
      return fresh;
    });
  }

  /** Those that wait for people go on: of one run, or all. */
  wake(runId?: string): Promise<void> {
    return this.#jobs.wake(messageJobs, runId === undefined ? undefined : { key: runId });
  }

  /** Takes over what waits without a job, as a version before this one has left it. */
  async takeOver(): Promise<void> {
    if ((await new MessageStore(this.#tables.read).withoutJob()).length > 0) {
      await this.#tables.write(async (tx) =>
        this.#enqueue(tx, await new MessageStore(tx).withoutJob()),
      );
    }
  }

  async #enqueue(tx: Tables<ImTables>['read'], messages: readonly NewMessage[]): Promise<void> {
    await this.#jobs.add<MessageJob>(
      tx,
      messageJobs,
      messages.map(({ id, kind, run_id: run, lane, delayMs = 0 }) => ({
        id,
        payload: { kind },
        key: run,
        lane,
        title: titles[kind],
        delayMs,
      })),
    );
  }
}
