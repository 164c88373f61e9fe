import type { Kysely } from 'kysely';
import { type Page, type PageRequest, pageOf } from 'svc/sdk';

import type { ApprovalOwner, ApprovalStatus } from './contract.ts';
import type { ApprovalTables, RequestRow, SignatureRow } from './tables.ts';

export interface ListFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly session_id?: string | undefined;
  readonly requester_id?: string | undefined;
}

const mostOfOwner = 200;

/** All SQL of approvals, over the tables as they stand or as a write sees them. */
export class ApprovalStore {
  readonly #db: Kysely<ApprovalTables>;

  constructor(db: Kysely<ApprovalTables>) {
    this.#db = db;
  }

  find(id: string): Promise<RequestRow | undefined> {
    return this.#db.selectFrom('approval_requests').selectAll().where('id', '=', id).executeTakeFirst();
  }

  page({ status, session_id: session, requester_id: requester }: ListFilter, page: PageRequest): Promise<Page<RequestRow>> {
    const rows = this.#db
      .selectFrom('approval_requests')
      .selectAll()
      .$if(status !== undefined, (query) => query.where('status', '=', status!))
      .$if(session !== undefined, (query) => query.where('session_id', '=', session!))
      .$if(requester !== undefined, (query) => query.where('requester_id', '=', requester!).where('requester_kind', 'in', ['user', 'token']));
    return pageOf(rows, 'id', page);
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
    return this.#db.selectFrom('approval_requests').selectAll().where('status', 'in', statuses).orderBy('id').execute();
  }

  async insert(row: RequestRow): Promise<void> {
    await this.#db.insertInto('approval_requests').values(row).execute();
  }

  /** Undefined unless it stood so: of two that try, one succeeds. */
  move(id: string, from: readonly ApprovalStatus[], change: Partial<RequestRow>): Promise<RequestRow | undefined> {
    return this.#db.updateTable('approval_requests').set(change).where('id', '=', id).where('status', 'in', from).returningAll().executeTakeFirst();
  }

  signaturesOf(id: string): Promise<SignatureRow[]> {
    return this.#db.selectFrom('approval_signatures').selectAll().where('approval_id', '=', id).orderBy('at').execute();
  }

  async sign(row: SignatureRow): Promise<void> {
    const { decision, comment, at, ip } = row;
    await this.#db
      .insertInto('approval_signatures')
      .values(row)
      .onConflict((conflict) => conflict.columns(['approval_id', 'user_id']).doUpdateSet({ decision, comment, at, ip }))
      .execute();
  }
}
