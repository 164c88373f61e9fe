import type { Call, Clock, Page, PageRequest, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { nodeStore } from './node-store.ts';
import type { PropsCheck } from './props/props.ts';
import type { NodeTypeDraft } from './schema.ts';
import { type ShownNodeType, shownNodeType } from './shown.ts';
import type { NodeTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { nodeTypeStore } from './type-store.ts';

type Actor = Pick<Call, 'note'>;

export interface NodeTypesParts {
  readonly tables: Tables<TopologyTables>;
  readonly check: PropsCheck;
  readonly clock: Clock;
}

const maxTypes = 200;

/** Types of nodes. A type never changes, so that what matched it once always does. */
export class NodeTypes {
  readonly #tables: Tables<TopologyTables>;
  readonly #check: PropsCheck;
  readonly #clock: Clock;

  constructor({ tables, check, clock }: NodeTypesParts) {
    this.#tables = tables;
    this.#check = check;
    this.#clock = clock;
  }

  async list(tier: string | undefined, page: PageRequest): Promise<Page<ShownNodeType>> {
    const { items, ...rest } = await nodeTypeStore(this.#tables.read).list(tier, page);
    return { ...rest, items: items.map(shownNodeType) };
  }

  async get(name: string): Promise<ShownNodeType> {
    return shownNodeType(await found(name, this.#tables.read));
  }

  async create(
    by: Actor,
    { name, display_name: title = name, schema, tier }: Static<typeof NodeTypeDraft>,
  ): Promise<ShownNodeType> {
    this.#check.assertSchema(schema);
    return await this.#tables.write(async (tx) => {
      const store = nodeTypeStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw errors.node_type_exists({ name });
      }
      if ((await store.list(undefined, { limit: 1 })).total >= maxTypes) {
        throw errors.too_many_node_types({ max: maxTypes });
      }
      const row: NodeTypeRow = {
        name,
        display_name: title.trim(),
        schema: JSON.stringify(schema),
        tier,
        builtin: 0,
        created_at: this.#clock.now(),
      };
      await store.insert(row);
      by.note({ resourceId: name, after: shownNodeType(row) });
      return shownNodeType(row);
    });
  }

  remove(by: Actor, name: string): Promise<void> {
    return this.#tables.write(async (tx) => {
      const row = await found(name, tx);
      if (row.builtin === 1) {
        throw errors.node_type_built_in({ name });
      }
      const used = await nodeStore(tx, undefined).count(name);
      if (used > 0) {
        throw errors.node_type_in_use({ name, used });
      }
      await nodeTypeStore(tx).remove(name);
      by.note({ before: shownNodeType(row) });
    });
  }
}

async function found(name: string, db: TopologyDb): Promise<NodeTypeRow> {
  const row = await nodeTypeStore(db).find(name);
  if (row === undefined) {
    throw errors.no_node_type({ name });
  }
  return row;
}
