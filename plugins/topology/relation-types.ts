import { type Call, type Clock, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { relationStore } from './relation-store.ts';
import type { RelationTypeDraft } from './schema.ts';
import { type ShownRelationType, shownRelationType } from './shown.ts';
import type { RelationTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { relationTypeStore } from './type-store.ts';

type By = Pick<Call, 'note'>;

/** How things may hang together. */
export interface RelationTypes {
  list(page: PageRequest): Promise<Page<ShownRelationType>>;
  get(name: string): Promise<ShownRelationType>;
  create(by: By, draft: Static<typeof RelationTypeDraft>): Promise<ShownRelationType>;
  remove(by: By, name: string): Promise<void>;
}

export interface RelationTypesParts {
  readonly tables: Tables<TopologyTables>;
  readonly clock: Clock;
  readonly mostTypes?: number;
}

export function createRelationTypes({ tables: { read, write }, clock, mostTypes = 200 }: RelationTypesParts): RelationTypes {
  return {
    async list(page) {
      const { items, ...rest } = await relationTypeStore(read).list(page);
      return { ...rest, items: items.map(shownRelationType) };
    },

    get: async (name) => shownRelationType(await found(name, read)),

    create: (by, { name, display_name: title = name, direction, propagates_failure: propagates }) =>
      write(async (tx) => {
        const store = relationTypeStore(tx);
        if ((await store.find(name)) !== undefined) {
          throw new SvcError('conflict', `there is a relation type ${name} already`);
        }
        if ((await store.list({ limit: 1 })).total >= mostTypes) {
          throw new SvcError('conflict', `there are ${mostTypes} relation types already, and no more fit; delete some that are not needed`);
        }
        const row: RelationTypeRow = {
          name,
          display_name: title.trim(),
          direction,
          propagates_failure: propagates ? 1 : 0,
          builtin: 0,
          created_at: clock.now(),
        };
        await store.insert(row);
        by.note({ resourceId: name, after: shownRelationType(row) });
        return shownRelationType(row);
      }),

    remove: (by, name) =>
      write(async (tx) => {
        const row = await found(name, tx);
        if (row.builtin === 1) {
          throw new SvcError('conflict', `the relation type ${name} is built in, and stays`);
        }
        const used = await relationStore(tx).count({ type: name });
        if (used > 0) {
          throw new SvcError('conflict', `${used === 1 ? 'a relation is' : `${used} relations are`} of the type ${name}; delete what is first`);
        }
        await relationTypeStore(tx).remove(name);
        by.note({ before: shownRelationType(row) });
      }),
  };
}

async function found(name: string, db: TopologyDb): Promise<RelationTypeRow> {
  const row = await relationTypeStore(db).find(name);
  if (row === undefined) {
    throw new SvcError('not_found', `there is no relation type ${name}`);
  }
  return row;
}
