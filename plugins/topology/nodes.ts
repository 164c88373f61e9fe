import type { SeenBy, SeenDevices } from 'svc/query';
import type { Call, Clock, Page, PageRequest, Principal, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { blastRadius } from './blast-radius.ts';
import { errors } from './errors.ts';
import { type NodeFilter, nodeStore } from './node-store.ts';
import type { PropsCheck } from './props/props.ts';
import { relationStore } from './relation-store.ts';
import type { Blast, NodeDraft, NodePatch } from './schema.ts';
import { type ShownNode, shownNode } from './shown.ts';
import type { NodeRow, NodeTypeRow, TopologyDb, TopologyTables } from './tables.ts';
import { nodeTypeStore } from './type-store.ts';

/** Context of a change, from the call that requests it. */
type Actor = Pick<Call, 'requireMatch' | 'note' | 'principal'>;

export interface NodesParts {
  readonly tables: Tables<TopologyTables>;
  readonly check: PropsCheck;
  readonly clock: Clock;
  readonly seenBy: SeenBy;
}

const maxNodes = 100_000;

/** Nodes, each of a type whose schema its props match. */
export class Nodes {
  readonly #tables: Tables<TopologyTables>;
  readonly #check: PropsCheck;
  readonly #clock: Clock;
  readonly #seenBy: SeenBy;

  constructor({ tables, check, clock, seenBy }: NodesParts) {
    this.#tables = tables;
    this.#check = check;
    this.#clock = clock;
    this.#seenBy = seenBy;
  }

  async list(asker: Principal, filter: NodeFilter, page: PageRequest): Promise<Page<ShownNode>> {
    const { items, ...rest } = await nodeStore(this.#tables.read, await this.#seenBy(asker)).list(
      filter,
      page,
    );
    return { ...rest, items: items.map(shownNode) };
  }

  async get(asker: Principal, id: number): Promise<ShownNode> {
    return shownNode(await found(id, this.#tables.read, await this.#seenBy(asker)));
  }

  create(
    by: Actor,
    { type: typeName, name, props = {}, tags = {} }: Static<typeof NodeDraft>,
  ): Promise<ShownNode> {
    return this.#tables.write(async (tx) => {
      const store = nodeStore(tx, undefined);
      const type = await typed(typeName, tx);
      this.#check.assertFit(props, type);
      if ((await store.count()) >= maxNodes) {
        throw errors.too_many_nodes({ max: maxNodes });
      }
      const now = this.#clock.now();
      const row = await store.insert({
        type: type.name,
        name: name.trim(),
        props: JSON.stringify(props),
        tags,
        device_id: null,
        created_at: now,
        updated_at: now,
      });
      by.note({ resourceType: 'node', resourceId: row.id, after: shownNode(row) });
      return shownNode(row);
    });
  }

  async update(
    by: Actor,
    id: number,
    { name, props, tags }: Static<typeof NodePatch>,
  ): Promise<ShownNode> {
    const seen = await this.#seenBy(by.principal);
    return await this.#tables.write(async (tx) => {
      const row = await found(id, tx, seen);
      const before = shownNode(row);
      by.requireMatch(before);
      if (row.device_id !== null && (name !== undefined || tags !== undefined)) {
        throw errors.host_node({ id, device_id: row.device_id });
      }
      if (props !== undefined) {
        this.#check.assertFit(props, await typed(row.type, tx));
      }
      const changes = {
        ...(name !== undefined && { name: name.trim() }),
        ...(props !== undefined && { props: JSON.stringify(props) }),
        ...(tags !== undefined && { tags }),
      };
      const after = shownNode(await nodeStore(tx, seen).update(id, changes, this.#clock.now()));
      by.note({ before, after });
      return after;
    });
  }

  async remove(by: Actor, id: number, cascade: boolean): Promise<void> {
    const seen = await this.#seenBy(by.principal);
    await this.#tables.write(async (tx) => {
      const row = await found(id, tx, seen);
      const before = shownNode(row);
      by.requireMatch(before);
      if (row.device_id !== null) {
        throw errors.host_node_kept({ id, device_id: row.device_id });
      }
      const relations = await relationStore(tx, undefined).count({ node_id: id });
      if (relations > 0 && !cascade) {
        throw errors.node_in_use({ id, name: row.name, relations });
      }
      await relationStore(tx, undefined).removeAt(id);
      await nodeStore(tx, seen).remove(id);
      by.note({ before: { ...before, relations } });
    });
  }

  /** Returns the blast radius of a device's host node. */
  async blastOfDevice(
    asker: Principal,
    deviceId: number,
    depth: number,
  ): Promise<Static<typeof Blast>> {
    const [host] = await nodeStore(this.#tables.read, await this.#seenBy(asker)).ofDevices([
      deviceId,
    ]);
    if (host === undefined) {
      throw errors.no_host_node({ deviceId });
    }
    return await this.blast(asker, host.id, depth);
  }

  async blast(asker: Principal, id: number, depth: number): Promise<Static<typeof Blast>> {
    const { read } = this.#tables;
    const seen = await this.#seenBy(asker);
    const node = shownNode(await found(id, read, seen));
    const { reached, complete } = await blastRadius(read, id, depth, seen);
    const nodes = new Map(
      (await nodeStore(read, seen).many(reached.map(({ node_id }) => node_id))).map((row) => [
        row.id,
        shownNode(row),
      ]),
    );
    return {
      node,
      depth,
      complete,
      // What was deleted in between is not there any more.
      reached: reached.flatMap(({ node_id: at, distance, via }) =>
        nodes.has(at) ? [{ node: nodes.get(at)!, distance, via: { ...via } }] : [],
      ),
    };
  }
}

/** Returns a node; one outside the scope counts as not found. */
async function found(id: number, db: TopologyDb, seen: SeenDevices): Promise<NodeRow> {
  const row = await nodeStore(db, seen).find(id);
  if (row === undefined) {
    throw errors.no_node({ id });
  }
  return row;
}

async function typed(name: string, db: TopologyDb): Promise<NodeTypeRow> {
  const type = await nodeTypeStore(db).find(name);
  if (type === undefined) {
    throw errors.unknown_node_type(
      { type: name },
      { details: [{ path: '/type', message: 'is not a node type' }] },
    );
  }
  return type;
}
