import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type SqlBool,
  sql,
} from 'kysely';
import type { SeenDevices } from 'svc/query';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { NodeRow, TopologyDb, TopologyTables } from './tables.ts';

export interface NodeFilter {
  readonly type?: string | undefined;
  /** A key with or without a value; all must be there. */
  readonly tags: readonly { readonly key: string; readonly value?: string | undefined }[];
  readonly q?: string | undefined;
}

export type Tags = Readonly<Record<string, string>>;

type NewNode = Omit<Insertable<TopologyTables['topology_nodes']>, 'id' | 'tags'> & {
  readonly tags: Tags;
};

/** The only statements about nodes and their tags. Who sees some devices alone sees their host nodes: any other may be of others. */
export const nodeStore = (db: TopologyDb, seen: SeenDevices) => ({
  list: (filter: NodeFilter, page: PageRequest): Promise<Page<NodeRow>> =>
    pageOf(nodesSeen(db, seen).selectAll().where(fits(filter)), 'id', page),

  find: (id: number): Promise<NodeRow | undefined> =>
    nodesSeen(db, seen).selectAll().where('id', '=', id).executeTakeFirst(),

  many: (ids: readonly number[]): Promise<NodeRow[]> =>
    nodesSeen(db, seen).selectAll().where('id', 'in', among(ids)).execute(),

  ofDevices: (deviceIds: readonly number[]): Promise<NodeRow[]> =>
    nodesSeen(db, seen).selectAll().where('device_id', 'in', among(deviceIds)).execute(),

  /** Devices that have a node, in the order of their ids. */
  async mirrored(after: number, limit: number): Promise<number[]> {
    const rows = await db
      .selectFrom('topology_nodes')
      .select('device_id')
      .where('device_id', '>', after)
      .orderBy('device_id')
      .limit(limit)
      .execute();
    return rows.map(({ device_id }) => device_id!);
  },

  async count(type?: string): Promise<number> {
    const { total } = await db
      .selectFrom('topology_nodes')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .$if(type !== undefined, (query) => query.where('type', '=', type!))
      .executeTakeFirstOrThrow();
    return total;
  },

  async insert({ tags, ...node }: NewNode): Promise<NodeRow> {
    const row = await db
      .insertInto('topology_nodes')
      .values({ ...node, tags: JSON.stringify(tags) })
      .returningAll()
      .executeTakeFirstOrThrow();
    await putTags(db, row.id, tags);
    return row;
  },

  /** `updated_at` grows with each change, also within a millisecond: it is the version that If-Match compares. */
  async update(
    id: number,
    { tags, ...changes }: { name?: string; props?: string; tags?: Tags },
    now: number,
  ): Promise<NodeRow> {
    if (tags !== undefined) {
      await db.deleteFrom('topology_node_tags').where('node_id', '=', id).execute();
      await putTags(db, id, tags);
    }
    return await db
      .updateTable('topology_nodes')
      .set({
        ...changes,
        ...(tags !== undefined && { tags: JSON.stringify(tags) }),
        updated_at: sql<number>`max(${now}, updated_at + 1)`,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  },

  async remove(id: number): Promise<void> {
    await db.deleteFrom('topology_nodes').where('id', '=', id).execute();
  },
});

export const nodesSeen = (db: TopologyDb, seen: SeenDevices) =>
  db
    .selectFrom('topology_nodes')
    .$if(seen !== undefined, (query) => query.where('device_id', 'in', among(seen!.ids)));

/** Builds a list of any length as one parameter. */
export const among = (values: Iterable<number>) =>
  sql<number>`(select cast(value as integer) from json_each(${JSON.stringify([...values])}))`;

async function putTags(db: TopologyDb, id: number, tags: Tags): Promise<void> {
  const rows = Object.entries(tags).map(([key, value]) => ({ node_id: id, key, value }));
  if (rows.length > 0) {
    await db.insertInto('topology_node_tags').values(rows).execute();
  }
}

const fits =
  ({ type, tags, q }: NodeFilter) =>
  (eb: ExpressionBuilder<TopologyTables, 'topology_nodes'>): Expression<SqlBool> =>
    eb.and([
      ...(type === undefined ? [] : [eb('type', '=', type)]),
      ...tags.map(({ key, value }) =>
        eb(
          'id',
          'in',
          eb
            .selectFrom('topology_node_tags')
            .select('node_id')
            .where('key', '=', key)
            .$if(value !== undefined, (query) => query.where('value', '=', value!)),
        ),
      ),
      ...(q === undefined
        ? []
        : [sql<SqlBool>`name like ${`%${q.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`]),
    ]);
