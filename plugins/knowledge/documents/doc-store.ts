import { type ExpressionBuilder, type Kysely, type SqlBool, type Expression, sql } from 'kysely';
import type { Page, PageRequest } from 'svc/sdk';

import { within } from './doc-path.ts';
import { type Reader, seesObservations, unlimited } from './reader.ts';
import type { Change, DocRow, KnowledgeTables, Source, VersionRow, WholeDoc } from './tables.ts';

export interface DocFilter {
  readonly path_prefix?: string | undefined;
  readonly tag?: string | undefined;
  readonly source?: Source | undefined;
  readonly path?: string | undefined;
}

export type NewDoc = Omit<DocRow, 'id' | 'version' | 'created_at' | 'updated_at'> & {
  readonly content: string;
};

type Where = (eb: ExpressionBuilder<KnowledgeTables, 'knowledge_docs'>) => Expression<SqlBool>;

const seenBy = (reader: Reader): Where => {
  const { orgs } = reader;
  return (eb) =>
    eb.and([
      ...(orgs === undefined
        ? []
        : [
            eb.or([
              eb('org_id', 'is', null),
              ...(orgs.length > 0 ? [eb('org_id', 'in', [...orgs])] : []),
            ]),
          ]),
      ...(seesObservations(reader) ? [] : [eb('of_devices', '=', 0)]),
    ]);
};

const fits =
  ({ path, path_prefix: prefix, tag, source }: DocFilter): Where =>
  (eb) => {
    const folder = prefix?.replace(/\/+$/, '');
    const [from, before] = within(folder ?? '');
    return eb.and([
      ...(path === undefined ? [] : [eb('path', '=', path)]),
      ...(folder === undefined
        ? []
        : [
            eb.or([
              eb('path', '=', folder),
              eb.and([eb('path', '>=', from), eb('path', '<', before)]),
            ]),
          ]),
      ...(source === undefined ? [] : [eb('source', '=', source)]),
      ...(tag === undefined
        ? []
        : [
            sql<SqlBool>`exists (select 1 from json_each(knowledge_docs.tags) where value = ${tag})`,
          ]),
    ]);
  };

/** The only SQL of documents. */
export class DocStore {
  readonly #db: Kysely<KnowledgeTables>;

  constructor(db: Kysely<KnowledgeTables>) {
    this.#db = db;
  }

  /** Lists documents sorted by path. */
  async list(
    reader: Reader,
    filter: DocFilter,
    { limit, after }: PageRequest,
  ): Promise<Page<DocRow>> {
    const all = this.#db.selectFrom('knowledge_docs').where(seenBy(reader)).where(fits(filter));
    const { total } = await all
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await all
      .selectAll()
      .$if(after !== undefined, (query) =>
        query.where((eb) =>
          eb(eb.refTuple('path', 'id'), '>', eb.tuple(String(after![0]), Number(after![1]))),
        ),
      )
      .orderBy('path')
      .orderBy('id')
      .limit(limit + 1)
      .execute();
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { items, total, ...(rows.length > limit && last && { next: [last.path, last.id] }) };
  }

  /** Returns the paths of all documents that the reader may see. */
  async paths(reader: Reader): Promise<readonly string[]> {
    return (
      await this.#db.selectFrom('knowledge_docs').select('path').where(seenBy(reader)).execute()
    ).map(({ path }) => path);
  }

  find(id: number, reader: Reader): Promise<DocRow | undefined> {
    return this.#db
      .selectFrom('knowledge_docs')
      .selectAll()
      .where('id', '=', id)
      .where(seenBy(reader))
      .executeTakeFirst();
  }

  /** Returns those of these documents that the reader may see. */
  async among(ids: readonly number[], reader: Reader): Promise<ReadonlySet<number>> {
    const rows = await this.#db
      .selectFrom('knowledge_docs')
      .select('id')
      .where('id', 'in', [...ids, 0])
      .where(seenBy(reader))
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  whole(id: number, reader: Reader): Promise<WholeDoc | undefined> {
    return this.#db
      .selectFrom('knowledge_docs as d')
      .innerJoin('knowledge_versions as v', (join) =>
        join.onRef('v.doc_id', '=', 'd.id').onRef('v.version', '=', 'd.version'),
      )
      .selectAll('d')
      .select('v.content')
      .where('d.id', '=', id)
      .where('d.id', 'in', this.#db.selectFrom('knowledge_docs').select('id').where(seenBy(reader)))
      .executeTakeFirst();
  }

  /** The one of an organization comes before everybody's. */
  at(path: string, reader: Reader): Promise<DocRow | undefined> {
    return this.#db
      .selectFrom('knowledge_docs')
      .selectAll()
      .where('path', '=', path)
      .where(seenBy(reader))
      .orderBy(sql`org_id is null`)
      .orderBy('id')
      .executeTakeFirst();
  }

  taken(path: string, org: number | null): Promise<DocRow | undefined> {
    return this.#db
      .selectFrom('knowledge_docs')
      .selectAll()
      .where(sql`coalesce(org_id, 0)`, '=', org ?? 0)
      .where('path', '=', path)
      .executeTakeFirst();
  }

  /** Returns documents in a folder and everything below it, whatever their source. */
  beneath(folder: string, reader: Reader): Promise<DocRow[]> {
    const [from, before] = within(folder);
    return this.#db
      .selectFrom('knowledge_docs')
      .selectAll()
      .where(seenBy(reader))
      .where('path', '>=', from)
      .where('path', '<', before)
      .orderBy('path')
      .execute();
  }

  /** Returns documents from one external source. */
  of(source: Source, repo: number | null): Promise<DocRow[]> {
    return this.#db
      .selectFrom('knowledge_docs')
      .selectAll()
      .where('source', '=', source)
      .where('repo_id', repo === null ? 'is' : '=', repo)
      .orderBy('path')
      .execute();
  }

  async insert({ content, ...doc }: NewDoc, now: number): Promise<WholeDoc> {
    const row = await this.#db
      .insertInto('knowledge_docs')
      .values({ ...doc, version: 1, created_at: now, updated_at: now })
      .returningAll()
      .executeTakeFirstOrThrow();
    await this.#keepVersion({ ...row, content }, doc.created_by);
    await this.#changed(row.id);
    return { ...row, content };
  }

  /** Other words, title or tags: the next version. */
  async edit(
    before: DocRow,
    doc: Pick<WholeDoc, 'title' | 'tags' | 'content' | 'size_bytes' | 'source' | 'origin_digest'>,
    by: string,
    now: number,
  ): Promise<WholeDoc> {
    const { content, ...columns } = doc;
    const row = await this.#update(before, { ...columns, version: before.version + 1 }, now);
    await this.#keepVersion({ ...row, content }, by);
    return { ...row, content };
  }

  /** Documents below one folder to below another, in a few statements however many they are. */
  async placeAll(ids: readonly number[], from: string, to: string, now: number): Promise<void> {
    const these = sql`(select cast(value as integer) from json_each(${JSON.stringify(ids)}))`;
    // Out of each other's way first: one may go where another one of them still is. No document has such a path.
    await sql`update knowledge_docs set path = char(1) || path where id in ${these}`.execute(
      this.#db,
    );
    await sql`update knowledge_docs set path = ${to} || substr(path, ${Array.from(from).length + 2}), updated_at = max(${Math.ceil(now)}, updated_at + 1)
      where id in ${these}`.execute(this.#db);
    await sql`delete from knowledge_changes where doc_id in ${these}`.execute(this.#db);
    await sql`insert into knowledge_changes (doc_id, removed) select id, 0 from knowledge_docs where id in ${these} order by path`.execute(
      this.#db,
    );
  }

  place(
    before: DocRow,
    place: Partial<Pick<DocRow, 'path' | 'org_id'>>,
    now: number,
  ): Promise<DocRow> {
    return this.#update(before, place, now);
  }

  async remove(id: number): Promise<void> {
    for (const table of ['knowledge_versions', 'knowledge_care', 'knowledge_votes'] as const) {
      await this.#db.deleteFrom(table).where('doc_id', '=', id).execute();
    }
    await this.#db.deleteFrom('knowledge_docs').where('id', '=', id).execute();
    await this.#changed(id, 1);
  }

  async versions(
    id: number,
    { limit, after }: PageRequest,
  ): Promise<Page<Omit<VersionRow, 'content'>>> {
    const all = this.#db.selectFrom('knowledge_versions').where('doc_id', '=', id);
    const { total } = await all
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await all
      .select(['doc_id', 'version', 'title', 'tags', 'size_bytes', 'changed_by', 'changed_at'])
      .$if(after !== undefined, (query) => query.where('version', '<', Number(after![0])))
      .orderBy('version', 'desc')
      .limit(limit + 1)
      .execute();
    const items = rows.slice(0, limit);
    return { items, total, ...(rows.length > limit && { next: [items.at(-1)!.version] }) };
  }

  version(id: number, version: number): Promise<VersionRow | undefined> {
    return this.#db
      .selectFrom('knowledge_versions')
      .selectAll()
      .where('doc_id', '=', id)
      .where('version', '=', version)
      .executeTakeFirst();
  }

  /** Keeps the newest of a document; the rest is history that nobody asks for any more. */
  async forgetVersions(id: number, newest: number, keep: number): Promise<void> {
    await this.#db
      .deleteFrom('knowledge_versions')
      .where('doc_id', '=', id)
      .where('version', '<=', newest - keep)
      .execute();
  }

  async #update(before: DocRow, change: Partial<Omit<DocRow, 'id'>>, now: number): Promise<DocRow> {
    const row = await this.#db
      .updateTable('knowledge_docs')
      // The tag of the resource: two changes in one millisecond are still two.
      .set({ ...change, updated_at: Math.max(Math.ceil(now), before.updated_at + 1) })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await this.#changed(row.id);
    return row;
  }

  async #keepVersion(
    { id, version, title, tags, content, size_bytes, updated_at }: WholeDoc,
    by: string,
  ): Promise<void> {
    await this.#db
      .insertInto('knowledge_versions')
      .values({
        doc_id: id,
        version,
        title,
        tags,
        content,
        size_bytes,
        changed_by: by,
        changed_at: updated_at,
      })
      .execute();
  }

  async #changed(id: number, removed = 0): Promise<void> {
    await this.#db.deleteFrom('knowledge_changes').where('doc_id', '=', id).execute();
    await this.#db.insertInto('knowledge_changes').values({ doc_id: id, removed }).execute();
  }
}

/** Log of changes that the index has not seen yet, and the identity of its database. */
export class ChangeLog {
  readonly #db: Kysely<KnowledgeTables>;

  constructor(db: Kysely<KnowledgeTables>) {
    this.#db = db;
  }

  async last(): Promise<number> {
    const row = await this.#db
      .selectFrom('knowledge_changes')
      .select((eb) => eb.fn.max('seq').as('seq'))
      .executeTakeFirst();
    return Number(row?.seq ?? 0);
  }

  /** Returns the next changes, complete, with up to about `maxBytes` of text. */
  async after(seq: number, limit: number, maxBytes: number): Promise<readonly Change[]> {
    const heads = await this.#db
      .selectFrom('knowledge_changes as c')
      .leftJoin('knowledge_docs as d', 'd.id', 'c.doc_id')
      .select(['c.seq', 'c.doc_id', 'd.size_bytes'])
      .where('c.seq', '>', seq)
      .orderBy('c.seq')
      .limit(limit)
      .execute();
    const changes: Change[] = [];
    let bytes = 0;
    const store = new DocStore(this.#db);
    for (const { seq: at, doc_id: id, size_bytes: size } of heads) {
      bytes += size ?? 0;
      if (changes.length > 0 && bytes > maxBytes) {
        break;
      }
      changes.push({ seq: at, id, doc: await store.whole(id, unlimited) });
    }
    return changes;
  }

  async hasForgettable(upTo: number): Promise<boolean> {
    return (
      (await this.#db
        .selectFrom('knowledge_changes')
        .select('seq')
        .where(forgettable(upTo))
        .limit(1)
        .executeTakeFirst()) !== undefined
    );
  }

  /**
   * Drops records of deleted documents once no index needs them, except the newest change, which
   * marks the end.
   */
  async forget(upTo: number): Promise<void> {
    await this.#db.deleteFrom('knowledge_changes').where(forgettable(upTo)).execute();
  }

  async state(key: string): Promise<string | undefined> {
    return (
      await this.#db
        .selectFrom('knowledge_state')
        .select('value')
        .where('key', '=', key)
        .executeTakeFirst()
    )?.value;
  }

  async setState(key: string, value: string): Promise<void> {
    await this.#db
      .insertInto('knowledge_state')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  }
}

const forgettable = (upTo: number) =>
  sql<SqlBool>`removed = 1 and seq <= ${upTo} and seq < (select max(seq) from knowledge_changes)`;
