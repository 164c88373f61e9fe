import type { Tables } from 'svc/sdk';

export interface Acceptance {
  readonly pack_id: string;
  readonly hash: string;
  /** The sentences that were accepted, as JSON. */
  readonly rights: string;
  readonly accepted_by: string;
  readonly accepted_at: number;
}

export interface PacksTables {
  packs_acceptances: Acceptance;
}

export class AcceptanceStore {
  readonly #tables: Tables<PacksTables>;

  constructor(tables: Tables<PacksTables>) {
    this.#tables = tables;
  }

  all(): Promise<readonly Acceptance[]> {
    return this.#tables.read.selectFrom('packs_acceptances').selectAll().execute();
  }

  async add(acceptance: Acceptance): Promise<void> {
    await this.#tables.write((tx) =>
      tx
        .insertInto('packs_acceptances')
        .values(acceptance)
        .onConflict((conflict) => conflict.columns(['pack_id', 'hash']).doUpdateSet(acceptance))
        .execute(),
    );
  }

  /** Deletes an acceptance; without a hash, all of the pack. */
  async remove(packId: string, hash?: string): Promise<void> {
    await this.#tables.write((tx) => {
      const all = tx.deleteFrom('packs_acceptances').where('pack_id', '=', packId);
      return (hash === undefined ? all : all.where('hash', '=', hash)).execute();
    });
  }
}
