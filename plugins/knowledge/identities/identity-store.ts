import type { Kysely } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { HostKeyRow, IdentityRow, KnowledgeTables } from '../documents/tables.ts';

type Db = Kysely<KnowledgeTables>;
type NewIdentity = Omit<IdentityRow, 'id' | 'last_used_at'>;

/** The only SQL of identities and of the host keys that they have met. */
export class IdentityStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  page(page: PageRequest): Promise<Page<IdentityRow>> {
    return pageOf(this.#db.selectFrom('knowledge_identities').selectAll(), 'id', page);
  }

  find(id: number): Promise<IdentityRow | undefined> {
    return this.#db
      .selectFrom('knowledge_identities')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Another one of this name or key. */
  holder(
    { name, fingerprint }: Pick<IdentityRow, 'name' | 'fingerprint'>,
    but = 0,
  ): Promise<IdentityRow | undefined> {
    return this.#db
      .selectFrom('knowledge_identities')
      .selectAll()
      .where((eb) => eb.or([eb('name', '=', name), eb('fingerprint', '=', fingerprint)]))
      .where('id', '!=', but)
      .executeTakeFirst();
  }

  insert(identity: NewIdentity): Promise<IdentityRow> {
    return this.#db
      .insertInto('knowledge_identities')
      .values(identity)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  update(
    id: number,
    change: Partial<Pick<IdentityRow, 'name' | 'comment' | 'updated_at' | 'last_used_at'>>,
  ): Promise<IdentityRow> {
    return this.#db
      .updateTable('knowledge_identities')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('knowledge_host_keys').where('identity_id', '=', id).execute();
    await this.#db.deleteFrom('knowledge_identities').where('id', '=', id).execute();
  }

  users(id: number): Promise<{ readonly id: number; readonly url: string }[]> {
    return this.#db
      .selectFrom('knowledge_repos')
      .select(['id', 'url'])
      .where('ssh_identity_id', '=', id)
      .orderBy('id')
      .execute();
  }

  hosts(identities: readonly number[]): Promise<HostKeyRow[]> {
    return identities.length === 0
      ? Promise.resolve([])
      : this.#db
          .selectFrom('knowledge_host_keys')
          .selectAll()
          .where('identity_id', 'in', identities)
          .orderBy('host')
          .orderBy('algorithm')
          .execute();
  }

  /** Pins the key of a host that has none; a pinned key is never overwritten. */
  async pin(key: HostKeyRow): Promise<void> {
    await this.#db
      .insertInto('knowledge_host_keys')
      .values(key)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async forgetHosts(identity: number, hosts: readonly string[]): Promise<void> {
    await this.#db
      .deleteFrom('knowledge_host_keys')
      .where('identity_id', '=', identity)
      .where('host', 'in', hosts)
      .execute();
  }
}
