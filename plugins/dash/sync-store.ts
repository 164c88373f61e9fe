import type { Tables } from 'svc/sdk';

export type ObjectKind = 'data_source' | 'dashboard';

export interface DashTables {
  dash_objects: {
    target: string;
    kind: ObjectKind;
    uid: string;
    digest: string;
    version: number;
    written_at: number;
  };
}

export interface Written {
  readonly uid: string;
  /** Digest of what was written, including secrets. */
  readonly digest: string;
  /** Version assigned by Grafana. */
  readonly version: number;
}

/** Record of what was written into one Grafana. */
export class SyncStore {
  readonly #tables: Tables<DashTables>;
  readonly #target: string;
  readonly #now: () => number;

  constructor(tables: Tables<DashTables>, target: string, now: () => number) {
    this.#tables = tables;
    this.#target = target;
    this.#now = now;
  }

  all(kind: ObjectKind): Promise<readonly Written[]> {
    return this.#tables.read
      .selectFrom('dash_objects')
      .select(['uid', 'digest', 'version'])
      .where('target', '=', this.#target)
      .where('kind', '=', kind)
      .orderBy('uid')
      .execute();
  }

  async put(kind: ObjectKind, { uid, digest, version }: Written): Promise<void> {
    const row = { digest, version, written_at: Math.round(this.#now()) };
    await this.#tables.write((tx) =>
      tx
        .insertInto('dash_objects')
        .values({ target: this.#target, kind, uid, ...row })
        .onConflict((conflict) => conflict.columns(['target', 'kind', 'uid']).doUpdateSet(row))
        .execute(),
    );
  }

  async remove(kind: ObjectKind, uid: string): Promise<void> {
    await this.#tables.write((tx) =>
      tx
        .deleteFrom('dash_objects')
        .where('target', '=', this.#target)
        .where('kind', '=', kind)
        .where('uid', '=', uid)
        .execute(),
    );
  }
}
