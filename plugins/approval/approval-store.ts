import { type Kysely, sql } from 'kysely';
import type { ApprovalOwner, ApprovalStatus } from 'svc/contracts/approval';
import type { DeviceScope, SeenBy } from 'svc/query';
import { type Page, type PageRequest, pageOf, type Principal } from 'svc/sdk';

import type { ApprovalTables, RequestRow, SignatureRow } from './tables.ts';

export interface ListFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly session_id?: string | undefined;
  readonly requester_id?: string | undefined;
}

/**
 * Viewer with access to some devices, who therefore sees changes about to run on these, and their
 * own requests. Undefined sees all.
 */
export type Viewer = { readonly scope: DeviceScope; readonly userId: string } | undefined;

export const viewerBy =
  (seenBy: SeenBy) =>
  async (principal: Pick<Principal, 'id' | 'selectors'>): Promise<Viewer> => {
    const scope = await seenBy(principal);
    return scope && { scope, userId: principal.id };
  };

const mostOfOwner = 200;

/** SQL of approvals, over the tables directly or within a write. */
export class ApprovalStore {
  readonly #db: Kysely<ApprovalTables>;

  constructor(db: Kysely<ApprovalTables>) {
    this.#db = db;
  }

  find(id: string, viewer: Viewer): Promise<RequestRow | undefined> {
    return this.#shownTo(viewer).selectAll().where('id', '=', id).executeTakeFirst();
  }

  page(
    { status, session_id: session, requester_id: requester }: ListFilter,
    page: PageRequest,
    viewer: Viewer,
  ): Promise<Page<RequestRow>> {
    const rows = this.#shownTo(viewer)
      .selectAll()
      .$if(status !== undefined, (query) => query.where('status', '=', status!))
      .$if(session !== undefined, (query) => query.where('session_id', '=', session!))
      .$if(requester !== undefined, (query) =>
        query
          .where('requester_id', '=', requester!)
          .where('requester_kind', 'in', ['user', 'token']),
      );
    return pageOf(rows, 'id', page);
  }

  #shownTo(viewer: Viewer) {
    return this.#db
      .selectFrom('approval_requests')
      .$if(viewer !== undefined, (query) =>
        query.where((is) =>
          is.or([
            is.and([
              is('target_kind', '=', 'device'),
              sql<boolean>`target_id in (select value from json_each(${JSON.stringify([...viewer!.scope.ids])}))`,
            ]),
            is.and([
              is('requester_kind', 'in', ['user', 'token']),
              is('requester_id', '=', viewer!.userId),
            ]),
          ]),
        ),
      );
  }

  of({ kind, ref }: Pick<ApprovalOwner, 'kind' | 'ref'>): Promise<RequestRow[]> {
    return this.#db
      .selectFrom('approval_requests')
      .selectAll()
      .where('owner_kind', '=', kind)
      .where('owner_ref', '=', ref)
      .orderBy('id', 'desc')
      .limit(mostOfOwner)
      .execute();
  }

  standing(statuses: readonly ApprovalStatus[]): Promise<RequestRow[]> {
    return this.#db
      .selectFrom('approval_requests')
      .selectAll()
      .where('status', 'in', statuses)
      .orderBy('id')
      .execute();
  }

  async insert(row: RequestRow): Promise<void> {
    await this.#db.insertInto('approval_requests').values(row).execute();
  }

  /** Changes the status; undefined unless it was as expected: of two attempts, one succeeds. */
  move(
    id: string,
    from: readonly ApprovalStatus[],
    change: Partial<RequestRow>,
  ): Promise<RequestRow | undefined> {
    return this.#db
      .updateTable('approval_requests')
      .set(change)
      .where('id', '=', id)
      .where('status', 'in', from)
      .returningAll()
      .executeTakeFirst();
  }

  signaturesOf(id: string): Promise<SignatureRow[]> {
    return this.#db
      .selectFrom('approval_signatures')
      .selectAll()
      .where('approval_id', '=', id)
      .orderBy('at')
      .execute();
  }

  async sign(row: SignatureRow): Promise<void> {
    const { decision, comment, at, ip } = row;
    await this.#db
      .insertInto('approval_signatures')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['approval_id', 'user_id']).doUpdateSet({ decision, comment, at, ip }),
      )
      .execute();
  }
}
