import { type Call, type Clock, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { nodeStore } from './node-store.ts';
import type { PropsCheck } from './props.ts';
import type { NodeTypeDraft } from './schema.ts';
import { type ShownNodeType, shownNodeType } from './shown.ts';
import type { NodeTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { nodeTypeStore } from './type-store.ts';

type By = Pick<Call, 'note'>;

/** What kinds of things there are. A type never changes, so that what fitted it once fits it for good. */
export interface NodeTypes {
  list(tier: string | undefined, page: PageRequest): Promise<Page<ShownNodeType>>;
  get(name: string): Promise<ShownNodeType>;
  create(by: By, draft: Static<typeof NodeTypeDraft>): Promise<ShownNodeType>;
  remove(by: By, name: string): Promise<void>;
}

export interface NodeTypesParts {
  readonly tables: Tables<TopologyTables>;
  readonly check: PropsCheck;
  readonly clock: Clock;
  readonly mostTypes?: number;
}

export function createNodeTypes({ tables: { read, write }, check, clock, mostTypes = 200 }: NodeTypesParts): NodeTypes {
  return {
    async list(tier, page) {
      const { items, ...rest } = await nodeTypeStore(read).list(tier, page);
      return { ...rest, items: items.map(shownNodeType) };
    },

    get: async (name) => shownNodeType(await found(name, read)),

    async create(by, { name, display_name: title = name, schema, tier }) {
      check.assertSchema(schema);
      return await write(async (tx) => {
        const store = nodeTypeStore(tx);
        if ((await store.find(name)) !== undefined) {
          throw new SvcError('conflict', `there is a node type ${name} already`);
        }
        if ((await store.list(undefined, { limit: 1 })).total >= mostTypes) {
          throw new SvcError('conflict', `there are ${mostTypes} node types already, and no more fit; delete some that are not needed`);
        }
        const row: NodeTypeRow = { name, display_name: title.trim(), schema: JSON.stringify(schema), tier, builtin: 0, created_at: clock.now() };
        await store.insert(row);
        by.note({ resourceId: name, after: shownNodeType(row) });
        return shownNodeType(row);
      });
    },

    remove: (by, name) =>
      write(async (tx) => {
        const row = await found(name, tx);
        if (row.builtin === 1) {
          throw new SvcError('conflict', `the node type ${name} is built in, and stays`);
        }
        const used = await nodeStore(tx).count(name);
        if (used > 0) {
          throw new SvcError('conflict', `${used === 1 ? 'a node is' : `${used} nodes are`} of the type ${name}; delete what is first`);
        }
        await nodeTypeStore(tx).remove(name);
        by.note({ before: shownNodeType(row) });
      }),
  };
}

async function found(name: string, db: TopologyDb): Promise<NodeTypeRow> {
  const row = await nodeTypeStore(db).find(name);
  if (row === undefined) {
    throw new SvcError('not_found', `there is no node type ${name}`);
  }
  return row;
}
