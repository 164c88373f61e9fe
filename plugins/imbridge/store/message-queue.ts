import type { Jobs } from 'svc/jobs';
import type { Tables } from 'svc/sdk';

import { MessageStore, type NewMessage } from './message-store.ts';
import type { ImTables, MessageRow } from './tables.ts';

/** Payload of a job; its id is that of the message. */
export interface MessageJob {
  readonly kind: MessageRow['kind'];
}

export const messageJobs = 'message';

/** Titles of jobs; nothing of what was said is shown. */
const titles = {
  message: 'Answer a message',
  action: 'Carry out a button',
  tell: 'Tell a conversation',
};

/** Queue of messages: each has a job of its id, keyed by its run, in the lane of its thread. */
export class MessageQueue {
  readonly #tables: Tables<ImTables>;
  readonly #jobs: Jobs<ImTables>;

  constructor(tables: Tables<ImTables>, jobs: Jobs<ImTables>) {
    this.#tables = tables;
    this.#jobs = jobs;
  }

  /** Adds messages and their jobs; returns the ids of new ones. */
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

  /** Wakes messages that wait for people: of one run, or all. */
  wake(runId?: string): Promise<void> {
    return this.#jobs.wake(messageJobs, runId === undefined ? undefined : { key: runId });
  }

  /** Enqueues jobs for messages without one, as a version without jobs leaves them. */
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
