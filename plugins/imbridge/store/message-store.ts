import { type Kysely, sql } from 'kysely';
import type { ImTarget } from 'svc/contracts/imbridge';

import type { ImTables, MessageRow, MessageState } from './tables.ts';

export type NewMessage = Pick<
  MessageRow,
  | 'id'
  | 'app_id'
  | 'event_key'
  | 'kind'
  | 'conversation'
  | 'lane'
  | 'payload'
  | 'run_id'
  | 'created_at'
> &
  Partial<Pick<MessageRow, 'sender' | 'message' | 'digest'>> & { readonly delayMs?: number };

/** State that a message keeps between attempts. */
export type Memory = Partial<Pick<MessageRow, 'sent' | 'answer' | 'session_id' | 'payload'>>;

/** A message of ours, as the platform knows it. */
export interface Posted {
  readonly at: ImTarget;
  readonly id: string;
  readonly thread: ImTarget;
  /** Number of messages of a long answer that were sent; absent for one. */
  readonly parts?: number;
  /** True if it cannot be changed, only followed by more. */
  readonly fixed?: boolean;
  /** True once the charts below it were sent, as far as the platform took them. */
  readonly pictured?: boolean;
  /** True once the whole answer was sent as a file. */
  readonly filed?: boolean;
}

/** Max rows of one statement, which takes 32,766 values. */
const maxAtOnce = 500;

/** Messages said, pressed or to be sent, within a read or one transaction. */
export class MessageStore {
  readonly #db: Kysely<ImTables>;

  constructor(db: Kysely<ImTables>) {
    this.#db = db;
  }

  /** Which of them were new: a key that is taken is one that the platform repeats. */
  async add(messages: readonly NewMessage[]): Promise<ReadonlySet<string>> {
    const rows = messages.map(({ delayMs = 0, ...message }): MessageRow => ({
      sender: '',
      message: '',
      digest: '',
      ...message,
      state: 'queued',
      session_id: null,
      sent: null,
      answer: null,
      tries: 0,
      next_at: message.created_at + delayMs,
      holder: null,
      error: null,
      ended_at: null,
    }));
    const fresh = new Set<string>();
    for (let at = 0; at < rows.length; at += maxAtOnce) {
      const added = await this.#db
        .insertInto('imbridge_jobs')
        .values(rows.slice(at, at + maxAtOnce))
        .onConflict((on) => on.columns(['app_id', 'event_key']).doNothing())
        .returning('id')
        .execute();
      added.forEach(({ id }) => fresh.add(id));
    }
    return fresh;
  }

  async open(): Promise<number> {
    const { count } = await this.#db
      .selectFrom('imbridge_jobs')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns open messages that have no job. */
  withoutJob(): Promise<MessageRow[]> {
    return this.#db
      .selectFrom('imbridge_jobs')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('id', 'not in', (of) => of.selectFrom('imbridge_work').select('id'))
      .orderBy('id')
      .execute();
  }

  find(id: string): Promise<MessageRow | undefined> {
    return this.#db.selectFrom('imbridge_jobs').selectAll().where('id', '=', id).executeTakeFirst();
  }

  byRun(runId: string): Promise<MessageRow | undefined> {
    return this.#db
      .selectFrom('imbridge_jobs')
      .selectAll()
      .where('run_id', '=', runId)
      .executeTakeFirst();
  }

  async keep(id: string, memory: Memory): Promise<void> {
    await this.#db.updateTable('imbridge_jobs').set(memory).where('id', '=', id).execute();
  }

  /** Ends a message, deleting its content, which is not kept longer than needed. */
  async end(id: string, state: MessageState, at: number, error: string | null): Promise<void> {
    await this.#db
      .updateTable('imbridge_jobs')
      .set({ state, ended_at: Math.floor(at), error, payload: '{}', answer: null })
      .where('id', '=', id)
      .execute();
  }

  /** Brought by its conversation within a time, before this one; or of that, by its sender alone; or what ended with a reason. */
  async before(
    { app_id: app, conversation, sender, created_at: at, id }: MessageRow,
    withinMs: number,
    whose: 'all' | 'own',
    why?: string,
  ): Promise<number> {
    const brought = this.#db
      .selectFrom('imbridge_jobs')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('app_id', '=', app)
      .where('conversation', '=', conversation)
      .where('created_at', '>', at - withinMs)
      .where('id', '<', id)
      .where('kind', '=', 'message')
      .$if(whose === 'own', (query) => query.where('sender', '=', sender))
      .$if(why !== undefined, (query) => query.where('error', '=', why!));
    const { count } = await brought.executeTakeFirstOrThrow();
    return count;
  }

  /** Returns who spoke last in a lane, before a message if one is given, and what came of it. */
  async lastSaid(
    lane: string,
    before?: string,
  ): Promise<Pick<MessageRow, 'sender' | 'state'> | undefined> {
    return await this.#db
      .selectFrom('imbridge_jobs')
      .select(['sender', 'state'])
      .where('lane', '=', lane)
      .where('kind', '=', 'message')
      .$if(before !== undefined, (query) => query.where('id', '<', before!))
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Returns whether its sender has changed the words of a message since, which are then answered instead. */
  async isSuperseded({ app_id: app, message, digest, id }: MessageRow): Promise<boolean> {
    const newer = await this.#db
      .selectFrom('imbridge_jobs')
      .select('id')
      .where('app_id', '=', app)
      .where('message', '=', message)
      .where('message', '<>', '')
      .where('id', '>', id)
      .where('digest', '<>', digest)
      .where(sql<boolean>`cast(payload ->> 'edited' as text) in ('1', 'true')`)
      .executeTakeFirst();
    return newer !== undefined;
  }

  /** Returns the last version of an edited message that was answered. */
  async answeredVersion({
    app_id: app,
    message,
    id,
  }: MessageRow): Promise<Pick<MessageRow, 'digest'> | undefined> {
    return await this.#db
      .selectFrom('imbridge_jobs')
      .select('digest')
      .where('app_id', '=', app)
      .where('message', '=', message)
      .where('message', '<>', '')
      .where('id', '<', id)
      .where('state', 'in', ['waiting', 'done', 'failed'])
      .orderBy('id', 'desc')
      .executeTakeFirst();
  }

  /** Keys are kept as long as any platform repeats. */
  async forget(endedBefore: number): Promise<void> {
    await this.#db.deleteFrom('imbridge_jobs').where('ended_at', '<', endedBefore).execute();
  }
}
