import type { Page, PageRequest } from 'svc/sdk';

import type { NodeTypeRow, RelationTypeRow, TopologyDb } from './tables.ts';

/** The only statements about the types of nodes. */
export const nodeTypeStore = (db: TopologyDb) => ({
  async list(tier: string | undefined, { limit, after }: PageRequest): Promise<Page<NodeTypeRow>> {
    const all = db.selectFrom('topology_node_types').$if(tier !== undefined, (query) => query.where('tier', '=', tier!));
    const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const found = await all
      .selectAll()
      .$if(after !== undefined, (query) => query.where('name', '>', String(after?.[0])))
      .orderBy('name')
      .limit(limit + 1)
      .execute();
    return paged(found, total, limit);
  },

  find: (name: string): Promise<NodeTypeRow | undefined> => db.selectFrom('topology_node_types').selectAll().where('name', '=', name).executeTakeFirst(),

  async insert(row: NodeTypeRow): Promise<void> {
    await db.insertInto('topology_node_types').values(row).execute();
  },

  async remove(name: string): Promise<void> {
    await db.deleteFrom('topology_node_types').where('name', '=', name).execute();
  },
});

/** The only statements about the types of relations. */
export const relationTypeStore = (db: TopologyDb) => ({
  async list({ limit, after }: PageRequest): Promise<Page<RelationTypeRow>> {
    const all = db.selectFrom('topology_relation_types');
    const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const found = await all
      .selectAll()
      .$if(after !== undefined, (query) => query.where('name', '>', String(after?.[0])))
      .orderBy('name')
      .limit(limit + 1)
      .execute();
    return paged(found, total, limit);
  },

  find: (name: string): Promise<RelationTypeRow | undefined> =>
    db.selectFrom('topology_relation_types').selectAll().where('name', '=', name).executeTakeFirst(),

  async insert(row: RelationTypeRow): Promise<void> {
    await db.insertInto('topology_relation_types').values(row).execute();
  },

  async remove(name: string): Promise<void> {
    await db.deleteFrom('topology_relation_types').where('name', '=', name).execute();
  },
});

function paged<T extends { readonly name: string }>(found: readonly T[], total: number, limit: number): Page<T> {
  const items = found.slice(0, limit);
  return { items, total, next: found.length > limit ? [items.at(-1)!.name] : undefined };
}
