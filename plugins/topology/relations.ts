import type { SeenBy, SeenDevices } from 'svc/query';
import {
  type Call,
  type Clock,
  type Page,
  type PageRequest,
  type Principal,
  type SvcError,
  type Tables,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { nodeStore } from './node-store.ts';
import { assertSize } from './props/props.ts';
import { type RelationFilter, relationStore } from './relation-store.ts';
import type { RelationDraft, RelationPatch } from './schema.ts';
import { type ShownRelation, shownRelation } from './shown.ts';
import type { RelationRow, TopologyDb, TopologyTables } from './tables.ts';
import { relationTypeStore } from './type-store.ts';

type Actor = Pick<Call, 'note' | 'principal'>;

export interface RelationsParts {
  readonly tables: Tables<TopologyTables>;
  readonly clock: Clock;
  readonly seenBy: SeenBy;
}

const maxRelations = 300_000;

/** Relations between nodes. */
export class Relations {
  readonly #tables: Tables<TopologyTables>;
  readonly #clock: Clock;
  readonly #seenBy: SeenBy;

  constructor({ tables, clock, seenBy }: RelationsParts) {
    this.#tables = tables;
    this.#clock = clock;
    this.#seenBy = seenBy;
  }

  async list(
    asker: Principal,
    filter: RelationFilter,
    page: PageRequest,
  ): Promise<Page<ShownRelation>> {
    const { items, ...rest } = await relationStore(
      this.#tables.read,
      await this.#seenBy(asker),
    ).list(filter, page);
    return { ...rest, items: items.map(shownRelation) };
  }

  async get(asker: Principal, id: number): Promise<ShownRelation> {
    return shownRelation(await found(id, this.#tables.read, await this.#seenBy(asker)));
  }

  async create(
    by: Actor,
    { type, src_id: src, dst_id: dst, props = {} }: Static<typeof RelationDraft>,
  ): Promise<ShownRelation> {
    const seen = await this.#seenBy(by.principal);
    return await this.#tables.write(async (tx) => {
      const store = relationStore(tx, undefined);
      assertSize(props);
      if (src === dst) {
        throw refusal('/dst_id', 'is the same node as src_id; a relation joins two');
      }
      await assertNode(src, '/src_id', tx, seen);
      await assertNode(dst, '/dst_id', tx, seen);
      await assertType(type, tx);
      await assertFree({ type, src_id: src, dst_id: dst }, tx);
      if ((await store.count()) >= maxRelations) {
        throw errors.too_many_relations({ max: maxRelations });
      }
      const row = await store.insert({
        type,
        src_id: src,
        dst_id: dst,
        props: JSON.stringify(props),
        created_at: this.#clock.now(),
      });
      by.note({ resourceType: 'relation', resourceId: row.id, after: shownRelation(row) });
      return shownRelation(row);
    });
  }

  /** Updates a relation; its ends stay, since between others it would be another relation. */
  async update(
    by: Actor,
    id: number,
    { type, props }: Static<typeof RelationPatch>,
  ): Promise<ShownRelation> {
    const seen = await this.#seenBy(by.principal);
    return await this.#tables.write(async (tx) => {
      const before = await found(id, tx, seen);
      if (props !== undefined) {
        assertSize(props);
      }
      if (type !== undefined && type !== before.type) {
        await assertType(type, tx);
        await assertFree({ ...before, type }, tx);
      }
      const after = await relationStore(tx, seen).update(id, {
        type: type ?? before.type,
        props: props === undefined ? before.props : JSON.stringify(props),
      });
      by.note({ before: shownRelation(before), after: shownRelation(after) });
      return shownRelation(after);
    });
  }

  async remove(by: Actor, id: number): Promise<void> {
    const seen = await this.#seenBy(by.principal);
    await this.#tables.write(async (tx) => {
      const before = await found(id, tx, seen);
      await relationStore(tx, seen).remove(id);
      by.note({ before: shownRelation(before) });
    });
  }
}

/** Returns a relation; one outside the scope counts as not found. */
async function found(id: number, db: TopologyDb, seen: SeenDevices): Promise<RelationRow> {
  const row = await relationStore(db, seen).find(id);
  if (row === undefined) {
    throw errors.no_relation({ id });
  }
  return row;
}

async function assertNode(
  id: number,
  path: string,
  db: TopologyDb,
  seen: SeenDevices,
): Promise<void> {
  if ((await nodeStore(db, seen).find(id)) === undefined) {
    throw refusal(path, `does not exist: there is no node ${id}`);
  }
}

async function assertType(name: string, db: TopologyDb): Promise<void> {
  if ((await relationTypeStore(db).find(name)) === undefined) {
    throw refusal('/type', `does not exist: there is no relation type ${name}`);
  }
}

async function assertFree(
  wanted: Pick<RelationRow, 'type' | 'src_id' | 'dst_id'>,
  db: TopologyDb,
): Promise<void> {
  const same = await relationStore(db, undefined).same(wanted);
  if (same !== undefined) {
    throw errors.relation_exists({
      same,
      src_id: wanted.src_id,
      type: wanted.type,
      dst_id: wanted.dst_id,
    });
  }
}

const refusal = (path: string, message: string): SvcError =>
  errors.value({ path: path.slice(1), message }, { details: [{ path, message }] });
