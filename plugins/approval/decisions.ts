import type { ApprovalStatus, Word } from 'svc/contracts/approval';
import type { Clock, Principal, Tables } from 'svc/sdk';

import { ApprovalStore, type Viewer } from './approval-store.ts';
import { errors } from './errors.ts';
import { isRequester, type Signers } from './signers.ts';
import type { ApprovalTables, RequestRow } from './tables.ts';

export interface DecisionParts {
  readonly tables: Tables<ApprovalTables>;
  readonly signers: Signers;
  readonly clock: Clock;
  readonly viewerOf: (principal: Principal) => Promise<Viewer>;
  /** Called after the commit, when nothing more is awaited. */
  readonly settled: (row: RequestRow) => void;
}

export const open: readonly ApprovalStatus[] = ['pending', 'partially_signed'];

/**
 * Decisions about approvals: sign, deny, cancel. Each is one transaction in which everything is
 * checked again.
 */
export class Decisions {
  readonly #parts: DecisionParts;

  constructor(parts: DecisionParts) {
    this.#parts = parts;
  }

  async approve(id: string, word: Word): Promise<RequestRow> {
    return await this.#decide(id, word, async (store, row, userId) => {
      const earlier = (await store.signaturesOf(id)).filter(
        ({ decision }) => decision === 'approved',
      );
      if (earlier.some(({ user_id: signer }) => signer === userId)) {
        throw errors.signed_already();
      }
      await this.#sign(store, row, userId, word, 'approved');
      const isComplete = earlier.length + 1 >= row.signatures;
      return isComplete
        ? { status: 'approved', decided_at: this.#parts.clock.now() }
        : { status: 'partially_signed' };
    });
  }

  /**
   * Denies an approval; one person suffices, also after a signature. The requester, and the model,
   * get the reason.
   */
  async deny(id: string, word: Word): Promise<RequestRow> {
    return await this.#decide(id, word, async (store, row, userId) => {
      await this.#sign(store, row, userId, word, 'denied');
      return { status: 'denied', decided_at: this.#parts.clock.now(), reason: word.comment };
    });
  }

  /** Cancels an approval that has not begun, for its requester or an administrator. */
  async cancel(id: string, principal: Principal): Promise<RequestRow> {
    const { tables, clock, settled, viewerOf } = this.#parts;
    const viewer = await viewerOf(principal);
    const row = await tables.write(async (tx) => {
      const store = new ApprovalStore(tx);
      const found = await required(store, id, viewer);
      if (
        !principal.grants.includes('*') &&
        !(principal.kind === 'user' && isRequester(Number(principal.id), found))
      ) {
        throw errors.may_not_cancel();
      }
      const change = {
        status: 'cancelled' as const,
        decided_at: clock.now(),
        reason: `cancelled by ${principal.name ?? principal.id}`,
      };
      return (await store.move(id, [...open, 'approved'], change)) ?? decided(found);
    });
    settled(row);
    return row;
  }

  async #decide(
    id: string,
    { principal, args_sha256: digest }: Word,
    work: (store: ApprovalStore, row: RequestRow, userId: number) => Promise<Partial<RequestRow>>,
  ): Promise<RequestRow> {
    const { tables, signers, clock, settled, viewerOf } = this.#parts;
    const viewer = await viewerOf(principal);
    const row = await tables.write(async (tx) => {
      const store = new ApprovalStore(tx);
      const found = await required(store, id, viewer);
      const { id: userId } = signers.demand(principal, found);
      if (!open.includes(found.status)) {
        return decided(found);
      }
      if (found.expires_at <= clock.now()) {
        throw errors.expired({ id });
      }
      if (found.args_sha256 !== digest) {
        throw errors.args_differ();
      }
      return (await store.move(id, open, await work(store, found, userId)))!;
    });
    if (!open.includes(row.status)) {
      settled(row);
    }
    return row;
  }

  async #sign(
    store: ApprovalStore,
    row: RequestRow,
    userId: number,
    word: Word,
    decision: 'approved' | 'denied',
  ): Promise<void> {
    const { principal, comment, ip } = word;
    const name = principal.name ?? principal.email ?? principal.id;
    await store.sign({
      approval_id: row.id,
      user_id: userId,
      name,
      decision,
      comment,
      args_sha256: row.args_sha256,
      ip,
      at: this.#parts.clock.now(),
    });
  }
}

/** Returns an approval; one that the caller may not see counts as not found. */
export async function required(
  store: ApprovalStore,
  id: string,
  viewer: Viewer,
): Promise<RequestRow> {
  const row = await store.find(id, viewer);
  if (!row) {
    throw errors.no_approval({ id: id.slice(0, 40) });
  }
  return row;
}

const decided = ({ id, status, reason }: RequestRow): never => {
  throw errors.decided({ id, status, because: reason === null ? '' : `: ${reason}` });
};
