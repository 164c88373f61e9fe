import { type Generated, type Kysely, type Selectable, sql, type SqlBool } from 'kysely';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

import { errors } from './errors.ts';

export interface ChatTables {
  chat_sessions: {
    id: string;
    owner: string;
    user_id: number | null;
    title: string;
    titled: number;
    tags: string;
    agent: string | null;
    related_incident_id: number | null;
    digest: string;
    created_at: number;
    updated_at: number;
    last_message_at: number | null;
    active: string;
  };
  chat_messages: {
    id: Generated<number>;
    session_id: string;
    run_id: string;
    role: 'user' | 'assistant';
    content: string;
    agent: string | null;
    model: string | null;
    tool_calls: string;
    usage: string | null;
    finish_reason: string | null;
    /** JSON of a `KeptTurn`, what the provider wants back with the message. */
    kept: string | null;
    created_at: number;
  };
  chat_runs: {
    id: string;
    session_id: string;
    owner: string;
    principal: string;
    origin: string;
    agent: string | null;
    state: 'running' | 'waiting' | 'ended';
    finish_reason: string | null;
    holder: string | null;
    held_until: number;
    epoch: Generated<number>;
    reserved_seq: number;
    cancelled: Generated<number>;
    parent: string | null;
    created_at: number;
    ended_at: number | null;
  };
  chat_shares: {
    id: string;
    message_id: number;
    owner: string;
    shared_by: string;
    selectors: string | null;
    orgs: string | null;
    created_at: number;
    expires_at: number;
  };
  chat_journal: { run_id: string; seq: number; at: number; entry: string };
  chat_events: { run_id: string; last_seq: number; events: string };
}

export type SessionRow = Selectable<ChatTables['chat_sessions']>;
export type MessageRow = Selectable<ChatTables['chat_messages']>;
export type NewMessage = Omit<MessageRow, 'id'>;

/** Sessions and their messages; a write joins the one it is called in. */
export class SessionStore {
  readonly #tables: Tables<ChatTables>;

  constructor(tables: Tables<ChatTables>) {
    this.#tables = tables;
  }

  write<R>(work: (tx: Kysely<ChatTables>) => Promise<R>): Promise<R> {
    return this.#tables.write(work);
  }

  /** Lists sessions of one owner; of all, if none is given. */
  list(
    owner: string | undefined,
    { tag, q }: { tag?: string | undefined; q?: string | undefined },
    page: PageRequest,
  ): Promise<Page<SessionRow>> {
    const rows = this.#tables.read
      .selectFrom('chat_sessions')
      .selectAll()
      .$if(owner !== undefined, (query) => query.where('owner', '=', owner!))
      .$if(tag !== undefined, (query) =>
        query.where(sql<SqlBool>`instr(tags, ${JSON.stringify(tag)}) > 0`),
      )
      .$if(q !== undefined, (query) =>
        query.where(sql<SqlBool>`title like ${`%${q!.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`),
      );
    return pageOf(rows, 'active', page);
  }

  find(id: string): Promise<SessionRow | undefined> {
    return this.#tables.read
      .selectFrom('chat_sessions')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  insert(row: SessionRow): Promise<void> {
    return this.write(
      async (tx) => void (await tx.insertInto('chat_sessions').values(row).execute()),
    );
  }

  update(id: string, change: Partial<Omit<SessionRow, 'id' | 'owner'>>): Promise<void> {
    return this.write(
      async (tx) =>
        void (await tx.updateTable('chat_sessions').set(change).where('id', '=', id).execute()),
    );
  }

  /**
   * Deletes a session, unless a run of it is open: its approvals would wait for signatures that
   * lead to nothing.
   */
  remove(id: string): Promise<void> {
    return this.write(async (tx) => {
      const open = await tx
        .selectFrom('chat_runs')
        .select('id')
        .where('session_id', '=', id)
        .where('state', '<>', 'ended')
        .limit(1)
        .executeTakeFirst();
      if (open !== undefined) {
        throw errors.session_open();
      }
      await tx.deleteFrom('chat_sessions').where('id', '=', id).execute();
    });
  }

  messages(session: string, page: PageRequest, order: 'asc' | 'desc'): Promise<Page<MessageRow>> {
    return pageOf(
      this.#tables.read.selectFrom('chat_messages').selectAll().where('session_id', '=', session),
      'id',
      page,
      order,
    );
  }

  /** Oldest first, the last `most` of those before a run. */
  async lastMessages(session: string, most: number): Promise<readonly MessageRow[]> {
    const rows = await this.#tables.read
      .selectFrom('chat_messages')
      .selectAll()
      .where('session_id', '=', session)
      .orderBy('id', 'desc')
      .limit(most)
      .execute();
    return rows.toReversed();
  }

  /** Returns what people have written in a session, newest first. */
  async asked(session: string, most: number): Promise<readonly string[]> {
    const rows = await this.#tables.read
      .selectFrom('chat_messages')
      .select('content')
      .where('session_id', '=', session)
      .where('role', '=', 'user')
      .orderBy('id', 'desc')
      .limit(most)
      .execute();
    return rows.map(({ content }) => content);
  }

  answerOf(session: string, run: string): Promise<string | undefined> {
    return this.#contentOf(session, run, 'assistant');
  }

  message(id: number): Promise<MessageRow | undefined> {
    return this.#tables.read
      .selectFrom('chat_messages')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Returns an answer of a session; the last one that says something, if none is named. */
  answerIn(session: string, id: number | undefined): Promise<MessageRow | undefined> {
    return this.#tables.read
      .selectFrom('chat_messages')
      .selectAll()
      .where('session_id', '=', session)
      .where('role', '=', 'assistant')
      .$if(id !== undefined, (query) => query.where('id', '=', id!))
      .$if(id === undefined, (query) => query.where(sql`trim(content)`, '<>', ''))
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Returns what a person wrote to start a run. */
  questionOf(session: string, run: string): Promise<string | undefined> {
    return this.#contentOf(session, run, 'user');
  }

  async #contentOf(
    session: string,
    run: string,
    role: 'assistant' | 'user',
  ): Promise<string | undefined> {
    const row = await this.#tables.read
      .selectFrom('chat_messages')
      .select('content')
      .where('session_id', '=', session)
      .where('run_id', '=', run)
      .where('role', '=', role)
      .executeTakeFirst();
    return row?.content;
  }

  /** Returns whether a persona has answered in a session: then it has read its opening. */
  async hasAnswered(session: string, agent: string): Promise<boolean> {
    const row = await this.#tables.read
      .selectFrom('chat_messages')
      .select('id')
      .where('session_id', '=', session)
      .where('agent', '=', agent)
      .where('role', '=', 'assistant')
      .where('content', '<>', '')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  insertMessage(row: NewMessage): Promise<void> {
    return this.write(
      async (tx) => void (await tx.insertInto('chat_messages').values(row).execute()),
    );
  }
}

/** Sort key of session lists, latest activity first; the id makes it unique. */
export const activeKey = (at: number, id: string): string =>
  `${String(at).padStart(15, '0')} ${id}`;
