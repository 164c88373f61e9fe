import type { SvcError } from 'svc/sdk';
import { type Clock, type Ids, type Page, type PageRequest, type Principal } from 'svc/sdk';

import { noDigest, short } from '../journal/digest.ts';
import { errors } from './errors.ts';
import { activeKey, type MessageRow, type SessionRow, type SessionStore } from './store.ts';

export const ownerOf = ({ kind, id }: Principal): string => `${kind}:${id}`;

export interface NewSession {
  /** Opened again with the same one, it is the same session. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly related_incident_id?: number | undefined;
}

const untitled = 'New session';
const titleLength = 60;

/** Sessions of people; another's is not found, for all but admins. */
export class Sessions {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(store: SessionStore, clock: Clock, ids: Ids) {
    this.#store = store;
    this.#clock = clock;
    this.#ids = ids;
  }

  list(
    principal: Principal,
    filter: { tag?: string | undefined; q?: string | undefined; all?: boolean | undefined },
    page: PageRequest,
  ): Promise<Page<SessionRow>> {
    const { all, ...rest } = filter;
    return this.#store.list(
      all === true && isAdmin(principal) ? undefined : ownerOf(principal),
      rest,
      page,
    );
  }

  async create(
    principal: Principal,
    { id: given, title, tags = [], agent, related_incident_id: incident }: NewSession,
  ): Promise<SessionRow> {
    if (given !== undefined && (await this.#store.find(given)) !== undefined) {
      return await this.toWriteIn(principal, given);
    }
    const now = this.#clock.now();
    const id = given ?? this.#ids.uuid();
    const row: SessionRow = {
      id,
      owner: ownerOf(principal),
      user_id: principal.kind === 'user' ? Number(principal.id) : null,
      title: title ?? untitled,
      titled: title === undefined ? 0 : 1,
      tags: JSON.stringify([...new Set(tags)]),
      agent: agent ?? null,
      related_incident_id: incident ?? null,
      digest: JSON.stringify(noDigest),
      created_at: now,
      updated_at: now,
      last_message_at: null,
      active: activeKey(now, id),
    };
    await this.#store.insert(row);
    return row;
  }

  async own(principal: Principal, id: string): Promise<SessionRow> {
    const row = await this.#store.find(id);
    if (row === undefined || (row.owner !== ownerOf(principal) && !isAdmin(principal))) {
      throw missing(id);
    }
    return row;
  }

  /**
   * Returns a session to write in: an administrator may read others' sessions, but writes only in
   * their own.
   */
  async toWriteIn(principal: Principal, id: string): Promise<SessionRow> {
    const row = await this.own(principal, id);
    if (row.owner !== ownerOf(principal)) {
      throw errors.not_yours();
    }
    return row;
  }

  async change(
    principal: Principal,
    id: string,
    { title, tags }: Pick<NewSession, 'title' | 'tags'>,
  ): Promise<SessionRow> {
    await this.own(principal, id);
    await this.#store.update(id, {
      ...(title !== undefined && { title, titled: 1 }),
      ...(tags !== undefined && { tags: JSON.stringify([...new Set(tags)]) }),
      updated_at: this.#clock.now(),
    });
    return this.own(principal, id);
  }

  async remove(principal: Principal, id: string): Promise<void> {
    await this.own(principal, id);
    await this.#store.remove(id);
  }

  async messages(
    principal: Principal,
    id: string,
    page: PageRequest,
    order: 'asc' | 'desc',
  ): Promise<Page<MessageRow>> {
    await this.own(principal, id);
    return this.#store.messages(id, page, order);
  }

  /** The person's message with what goes with it, and whatever `along` writes, in one commit. */
  addAsk(
    session: SessionRow,
    { content, enclosed }: { readonly content: string; readonly enclosed: string },
    run: string,
    along: () => Promise<void>,
  ): Promise<void> {
    return this.#store.write(async () => {
      // Deleted by another call since it was read.
      if ((await this.#store.find(session.id)) === undefined) {
        throw missing(session.id);
      }
      await this.#store.insertMessage({
        session_id: session.id,
        run_id: run,
        role: 'user',
        content: enclosed === '' ? content : `${content}\n\n${enclosed}`,
        created_at: this.#clock.now(),
        agent: null,
        model: null,
        tool_calls: '[]',
        usage: null,
        finish_reason: null,
        kept: null,
      });
      if (session.titled === 0 && session.title === untitled) {
        await this.#store.update(session.id, {
          title: short(content.replaceAll(/\s+/g, ' ').trim(), titleLength),
        });
      }
      await along();
    });
  }
}

const missing = (id: string): SvcError => errors.no_session({ id });

const isAdmin = ({ grants }: Principal): boolean => grants.includes('*');
