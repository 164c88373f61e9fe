import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { DeviceScope, SeenDevices } from 'svc/query';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import { among } from './node-store.ts';
import type { RelationRow, TopologyDb, TopologyTables } from './tables.ts';

export interface RelationFilter {
  readonly type?: string | undefined;
  readonly src_id?: number | undefined;
  readonly dst_id?: number | undefined;
  /** Either end. */
  readonly node_id?: number | undefined;
}

/** A node that failure spreads to in one step, and by which relation. */
export interface Step {
  readonly reached: number;
  readonly relation: number;
  readonly type: string;
  readonly origin: number;
}

/** Statements about relations. Users with access to some devices see those between these. */
export const relationStore = (db: TopologyDb, seen: SeenDevices) => ({
  list: (filter: RelationFilter, page: PageRequest): Promise<Page<RelationRow>> =>
    pageOf(relations(db, seen).selectAll().where(fits(filter)), 'id', page),

  find: (id: number): Promise<RelationRow | undefined> =>
    relations(db, seen).selectAll().where('id', '=', id).executeTakeFirst(),

  async same({
    src_id: src,
    dst_id: dst,
    type,
  }: Pick<RelationRow, 'src_id' | 'dst_id' | 'type'>): Promise<number | undefined> {
    const found = await db
      .selectFrom('topology_relations')
      .select('id')
      .where('src_id', '=', src)
      .where('dst_id', '=', dst)
      .where('type', '=', type)
      .executeTakeFirst();
    return found?.id;
  },

  async count(filter: RelationFilter = {}): Promise<number> {
    const { total } = await db
      .selectFrom('topology_relations')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where(fits(filter))
      .executeTakeFirstOrThrow();
    return total;
  },

  insert: (
    row: Omit<Insertable<TopologyTables['topology_relations']>, 'id'>,
  ): Promise<RelationRow> =>
    db.insertInto('topology_relations').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (id: number, changes: { type?: string; props?: string }): Promise<RelationRow> =>
    db
      .updateTable('topology_relations')
      .set(changes)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  async remove(id: number): Promise<void> {
    await db.deleteFrom('topology_relations').where('id', '=', id).execute();
  },

  async removeAt(nodeId: number): Promise<void> {
    await db
      .deleteFrom('topology_relations')
      .where(fits({ node_id: nodeId }))
      .execute();
  },

  /**
   * Returns the nodes to which a failure of any of `from` spreads in one step, each once, by the
   * oldest relation; none of `known`.
   */
  async steps(from: readonly number[], known: Iterable<number>, limit: number): Promise<Step[]> {
    const found = await stepsQuery(from, known, limit, seen).execute(db);
    return found.rows;
  },
});

function stepsQuery(
  from: readonly number[],
  known: Iterable<number>,
  limit: number,
  seen: SeenDevices,
): RawBuilder<Step> {
  const way = (origin: 'src_id' | 'dst_id', reached: 'src_id' | 'dst_id', direction: string) => sql`
    select r.id as relation, ${sql.ref(`r.${reached}`)} as reached
    from topology_relations r join topology_relation_types t on t.name = r.type
    where t.propagates_failure = 1 and t.direction in (${direction}, 'bidirectional') and ${sql.ref(`r.${origin}`)} in ${among(from)}`;
  return sql<Step>`
    select oldest.reached, oldest.relation, r.type, case r.src_id when oldest.reached then r.dst_id else r.src_id end as origin
    from (
      select reached, min(relation) as relation
      from (${way('src_id', 'dst_id', 'src_to_dst')} union all ${way('dst_id', 'src_id', 'dst_to_src')}) as step
      where reached not in ${among(known)} and ${seen === undefined ? sql`true` : sql`reached in ${hostsOf(seen)}`}
      group by reached order by reached limit ${limit}
    ) as oldest join topology_relations r on r.id = oldest.relation order by oldest.reached`;
}

export const hostsOf = ({ ids }: DeviceScope) =>
  sql<number>`(select id from topology_nodes where device_id in ${among(ids)})`;

const relations = (db: TopologyDb, seen: SeenDevices) =>
  db
    .selectFrom('topology_relations')
    .$if(seen !== undefined, (query) =>
      query.where('src_id', 'in', hostsOf(seen!)).where('dst_id', 'in', hostsOf(seen!)),
    );

const fits =
  ({ type, src_id: src, dst_id: dst, node_id: node }: RelationFilter) =>
  (eb: ExpressionBuilder<TopologyTables, 'topology_relations'>): Expression<SqlBool> =>
    eb.and([
      ...(type === undefined ? [] : [eb('type', '=', type)]),
      ...(src === undefined ? [] : [eb('src_id', '=', src)]),
      ...(dst === undefined ? [] : [eb('dst_id', '=', dst)]),
      ...(node === undefined ? [] : [eb.or([eb('src_id', '=', node), eb('dst_id', '=', node)])]),
    ]);
