import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { NodeTypeRow, RelationTypeRow, TopologyDb } from './tables.ts';

/** The only statements about the types of nodes. */
export const nodeTypeStore = (db: TopologyDb) => ({
  list(tier: string | undefined, page: PageRequest): Promise<Page<NodeTypeRow>> {
    const all = db
      .selectFrom('topology_node_types')
      .selectAll()
      .$if(tier !== undefined, (query) => query.where('tier', '=', tier!));
    return pageOf(all, 'name', page, 'asc');
  },

  find: (name: string): Promise<NodeTypeRow | undefined> =>
    db.selectFrom('topology_node_types').selectAll().where('name', '=', name).executeTakeFirst(),

  async insert(row: NodeTypeRow): Promise<void> {
    await db.insertInto('topology_node_types').values(row).execute();
  },

  async remove(name: string): Promise<void> {
    await db.deleteFrom('topology_node_types').where('name', '=', name).execute();
  },
});

/** The only statements about the types of relations. */
export const relationTypeStore = (db: TopologyDb) => ({
  list: (page: PageRequest): Promise<Page<RelationTypeRow>> =>
    pageOf(db.selectFrom('topology_relation_types').selectAll(), 'name', page, 'asc'),

  find: (name: string): Promise<RelationTypeRow | undefined> =>
    db
      .selectFrom('topology_relation_types')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst(),

  async insert(row: RelationTypeRow): Promise<void> {
    await db.insertInto('topology_relation_types').values(row).execute();
  },

  async remove(name: string): Promise<void> {
    await db.deleteFrom('topology_relation_types').where('name', '=', name).execute();
  },
});
