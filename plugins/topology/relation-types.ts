import { type Call, type Clock, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { relationStore } from './relation-store.ts';
import type { RelationTypeDraft } from './schema.ts';
import { type ShownRelationType, shownRelationType } from './shown.ts';
import type { RelationTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { relationTypeStore } from './type-store.ts';

type By = Pick<Call, 'note'>;

export interface RelationTypesParts {
  readonly tables: Tables<TopologyTables>;
  readonly clock: Clock;
}

const mostTypes = 200;

/** How things may hang together. */
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

  create(by: By, draft: Static<typeof RelationTypeDraft>): Promise<ShownRelationType> {
    const { name, display_name: title = name, direction, propagates_failure: propagates } = draft;
    return this.#tables.write(async (tx) => {
      const store = relationTypeStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw new SvcError('conflict', `there is a relation type ${name} already`);
      }
      if ((await store.list({ limit: 1 })).total >= mostTypes) {
        throw new SvcError(
          'conflict',
          `there are ${mostTypes} relation types already, which is the limit; delete some that are not needed`,
        );
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

  remove(by: By, name: string): Promise<void> {
    return this.#tables.write(async (tx) => {
      const row = await found(name, tx);
      if (row.builtin === 1) {
        throw new SvcError(
          'conflict',
          `the relation type ${name} is built in and cannot be deleted`,
        );
      }
      const used = await relationStore(tx, undefined).count({ type: name });
      if (used > 0) {
        throw new SvcError(
          'conflict',
          `the relation type ${name} is in use by relations: ${used}; delete them first`,
        );
      }
      await relationTypeStore(tx).remove(name);
      by.note({ before: shownRelationType(row) });
    });
  }
}

async function found(name: string, db: TopologyDb): Promise<RelationTypeRow> {
  const row = await relationTypeStore(db).find(name);
  if (row === undefined) {
    throw new SvcError('not_found', `there is no relation type ${name}`);
  }
  return row;
}
