import type { Selectable } from 'kysely';
import type { Clock, Ids, Principal, Tables } from 'svc/sdk';

import { ownerOf, type Sessions } from '../session/sessions.ts';
import type { ChatTables, MessageRow, SessionStore } from '../session/store.ts';
import { errors } from './errors.ts';

export interface ShareParts {
  readonly tables: Tables<ChatTables>;
  readonly sessions: Sessions;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

export type ShareRow = Selectable<ChatTables['chat_shares']>;

/** One answer as a colleague reads it. */
export interface SharedAnswer {
  readonly share: ShareRow;
  readonly question: string;
  readonly answer: MessageRow;
}

const livesMs = 30 * 86_400_000;

/**
 * Links to single answers. A colleague opens one if they may see everything that who shared it could
 * have asked about: the same devices, and documents of the same organizations.
 */
export class Shares {
  readonly #parts: ShareParts;

  constructor(parts: ShareParts) {
    this.#parts = parts;
  }

  /** Shares an answer for 30 days; repeated, it is the same link with a new end. */
  async share(
    principal: Principal,
    session: string,
    message: number | undefined,
  ): Promise<ShareRow> {
    const { tables, sessions, store, clock, ids } = this.#parts;
    await sessions.toWriteIn(principal, session);
    const answer = await store.answerIn(session, message);
    if (answer === undefined) {
      throw errors.no_answer({ id: session });
    }
    if (answer.content.trim() === '') {
      throw errors.empty_answer();
    }
    const now = Math.floor(clock.now());
    const seen = {
      selectors: jsonOr(principal.selectors),
      orgs: jsonOr(principal.orgs),
      expires_at: now + livesMs,
    };
    return await tables.write((tx) =>
      tx
        .insertInto('chat_shares')
        .values({
          id: ids.token(16),
          message_id: answer.id,
          owner: ownerOf(principal),
          shared_by: principal.email ?? principal.name ?? ownerOf(principal),
          created_at: now,
          ...seen,
        })
        .onConflict((on) => on.column('message_id').doUpdateSet(seen))
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async open(principal: Principal, id: string): Promise<SharedAnswer> {
    const { tables, store, clock } = this.#parts;
    const share = await tables.read
      .selectFrom('chat_shares')
      .selectAll()
      .where('id', '=', id)
      .where('expires_at', '>', clock.now())
      .executeTakeFirst();
    const answer = share && (await store.message(share.message_id));
    if (share === undefined || answer === undefined || !mayOpen(principal, share)) {
      throw errors.no_share();
    }
    const question = await store.questionOf(answer.session_id, answer.run_id);
    return { share, answer, question: question ?? '' };
  }

  /** Ends a link; for who shared it, and administrators. */
  async revoke(principal: Principal, id: string): Promise<void> {
    const { tables } = this.#parts;
    const { numDeletedRows } = await tables.write((tx) =>
      tx
        .deleteFrom('chat_shares')
        .where('id', '=', id)
        .$if(!principal.grants.includes('*'), (rows) =>
          rows.where('owner', '=', ownerOf(principal)),
        )
        .executeTakeFirst(),
    );
    if (Number(numDeletedRows) === 0) {
      throw errors.no_share();
    }
  }
}

/** Members with access to some devices open only what was asked under the same selectors. */
function mayOpen(principal: Principal, { owner, selectors, orgs }: ShareRow): boolean {
  if (owner === ownerOf(principal)) {
    return selectors === jsonOr(principal.selectors);
  }
  if (principal.selectors !== undefined) {
    return selectors === jsonOr(principal.selectors) && seesOrgs(principal, orgs);
  }
  return seesOrgs(principal, orgs);
}

/** An administrator who shares an answer has decided that the others may read it. */
const seesOrgs = ({ orgs: own }: Principal, orgs: string | null): boolean =>
  own === undefined ||
  orgs === null ||
  (JSON.parse(orgs) as readonly number[]).every((org) => own.includes(org));

const jsonOr = (list: readonly unknown[] | undefined): string | null =>
  list === undefined ? null : JSON.stringify(list);
