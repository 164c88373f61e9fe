import type { Call, Clock, Page, PageRequest, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { relationStore } from './relation-store.ts';
import type { RelationTypeDraft } from './schema.ts';
import { type ShownRelationType, shownRelationType } from './shown.ts';
import type { RelationTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { relationTypeStore } from './type-store.ts';

type Actor = Pick<Call, 'note'>;

export interface RelationTypesParts {
  readonly tables: Tables<TopologyTables>;
  readonly clock: Clock;
}

const maxTypes = 200;

/** Types of relations between nodes. */
export class RelationTypes {
  readonly #tables: Tables<TopologyTables>;
  readonly #clock: Clock;

  constructor({ tables, clock }: RelationTypesParts) {
    this.#tables = tables;
    this.#clock = clock;
  }

  async list(page: PageRequest): Promise<Page<ShownRelationType>> {
    const { items, ...rest } = await relationTypeStore(this.#tables.read).list(page);
    return { ...rest, items: items.map(shownRelationType) };
  }

  async get(name: string): Promise<ShownRelationType> {
    return shownRelationType(await found(name, this.#tables.read));
  }

  create(by: Actor, draft: Static<typeof RelationTypeDraft>): Promise<ShownRelationType> {
    const { name, display_name: title = name, direction, propagates_failure: propagates } = draft;
    return this.#tables.write(async (tx) => {
      const store = relationTypeStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw errors.relation_type_exists({ name });
      }
      if ((await store.list({ limit: 1 })).total >= maxTypes) {
        throw errors.too_many_relation_types({ max: maxTypes });
      }
      const row: RelationTypeRow = {
        name,
        display_name: title.trim(),
        direction,
        propagates_failure: propagates ? 1 : 0,
        builtin: 0,
        created_at: this.#clock.now(),
      };
      await store.insert(row);
      by.note({ resourceId: name, after: shownRelationType(row) });
      return shownRelationType(row);
    });
  }

  remove(by: Actor, name: string): Promise<void> {
    return this.#tables.write(async (tx) => {
      const row = await found(name, tx);
      if (row.builtin === 1) {
        throw errors.relation_type_built_in({ name });
      }
      const used = await relationStore(tx, undefined).count({ type: name });
      if (used > 0) {
        throw errors.relation_type_in_use({ name, used });
      }
      await relationTypeStore(tx).remove(name);
      by.note({ before: shownRelationType(row) });
    });
  }
}

async function found(name: string, db: TopologyDb): Promise<RelationTypeRow> {
  const row = await relationTypeStore(db).find(name);
  if (row === undefined) {
    throw errors.no_relation_type({ name });
  }
  return row;
}
