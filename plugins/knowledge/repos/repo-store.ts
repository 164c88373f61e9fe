import type { Kysely } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { Reader } from '../documents/reader.ts';
import type { KnowledgeTables, RepoRow } from '../documents/tables.ts';

export type NewRepo = Omit<RepoRow, 'id' | 'failures'>;

/** The only SQL of repositories. */
export class RepoStore {
  readonly #db: Kysely<KnowledgeTables>;

  constructor(db: Kysely<KnowledgeTables>) {
    this.#db = db;
  }

  page(reader: Reader, page: PageRequest): Promise<Page<RepoRow>> {
    return pageOf(this.#seen(reader), 'id', page);
  }

  find(id: number, reader: Reader): Promise<RepoRow | undefined> {
    return this.#seen(reader).where('id', '=', id).executeTakeFirst();
  }

  /** Documents of each. */
  async counts(ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const rows =
      ids.length === 0
        ? []
        : await this.#db
            .selectFrom('knowledge_docs')
            .select(['repo_id', (eb) => eb.fn.countAll<number>().as('count')])
            .where('repo_id', 'in', ids)
            .groupBy('repo_id')
            .execute();
    return new Map(rows.map(({ repo_id: id, count }) => [id!, count]));
  }

  /**
   * Returns repositories of an organization whose documents would be in the same folder, or nested.
   */
  mounts(org: number | null): Promise<Pick<RepoRow, 'id' | 'mount'>[]> {
    return this.#db
      .selectFrom('knowledge_repos')
      .select(['id', 'mount'])
      .where('org_id', org === null ? 'is' : '=', org)
      .execute();
  }

  due(now: number): Promise<Pick<RepoRow, 'id'>[]> {
    return this.#db
      .selectFrom('knowledge_repos')
      .select('id')
      .where('due_at', '<=', now)
      .orderBy('due_at')
      .execute();
  }

  insert(repo: NewRepo): Promise<RepoRow> {
    return this.#db
      .insertInto('knowledge_repos')
      .values(repo)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async update(id: number, change: Partial<Omit<RepoRow, 'id'>>): Promise<void> {
    await this.#db.updateTable('knowledge_repos').set(change).where('id', '=', id).execute();
  }

  /** Syncs that ended with the process; they are due at once. */
  async recover(
    change: Pick<RepoRow, 'status' | 'last_error' | 'last_error_code' | 'due_at'>,
  ): Promise<void> {
    await this.#db
      .updateTable('knowledge_repos')
      .set(change)
      .where('status', '=', 'syncing')
      .execute();
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('knowledge_repos').where('id', '=', id).execute();
  }

  #seen({ orgs }: Reader) {
    return this.#db
      .selectFrom('knowledge_repos')
      .selectAll()
      .$if(orgs !== undefined, (query) =>
        query.where((eb) =>
          eb.or([
            eb('org_id', 'is', null),
            ...(orgs!.length > 0 ? [eb('org_id', 'in', [...orgs!])] : []),
          ]),
        ),
      );
  }
}
