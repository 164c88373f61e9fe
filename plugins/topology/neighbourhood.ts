import { sql } from 'kysely';
import type { Around, Neighbourhood } from 'svc/contracts/topology';
import type { SeenDevices } from 'svc/query';

import { among, nodesSeen, nodeStore } from './node-store.ts';
import { hostsOf } from './relation-store.ts';
import type { Direction, TopologyDb } from './tables.ts';

const maxNodes = 500;
const maxRelations = 2_000;

interface Link {
  readonly id: number;
  readonly type: string;
  readonly src_id: number;
  readonly dst_id: number;
  readonly direction: Direction;
}

/** Relations that spread failures and touch any of these nodes, the oldest first. */
async function linksAt(
  db: TopologyDb,
  nodes: readonly number[],
  seen: SeenDevices,
): Promise<readonly Link[]> {
  const found = await sql<Link>`
    select r.id, r.type, r.src_id, r.dst_id, t.direction from topology_relations r join topology_relation_types t on t.name = r.type
    where t.propagates_failure = 1 and (r.src_id in ${among(nodes)} or r.dst_id in ${among(nodes)}) and ${betweenSeen(seen)} order by r.id limit ${maxRelations}`.execute(
    db,
  );
  return found.rows;
}

const betweenSeen = (seen: SeenDevices) =>
  seen === undefined
    ? sql`true`
    : sql`r.src_id in ${hostsOf(seen)} and r.dst_id in ${hostsOf(seen)}`;

/**
 * Returns everything within so many steps of some nodes, in either direction of failure, with the
 * edges between them; nearest first.
 */
export async function neighbourhood(
  db: TopologyDb,
  { node_ids: given = [], device_ids: devices = [], names = [], depth, most = maxNodes }: Around,
  seen: SeenDevices,
): Promise<Neighbourhood> {
  const named =
    names.length === 0
      ? []
      : await nodesSeen(db, seen)
          .select('id')
          .where('name', 'in', [...names])
          .limit(maxNodes)
          .execute();
  const start = [
    ...given,
    ...(await nodeStore(db, seen).ofDevices(devices)).map(({ id }) => id),
    ...named.map(({ id }) => id),
  ];
  const distances = new Map(start.map((id) => [id, 0]));
  const links = new Map<number, Link>();
  let edge: readonly number[] = [...distances.keys()];
  let complete = true;
  for (let distance = 1; distance <= depth && edge.length > 0; distance += 1) {
    const found = await linksAt(db, edge, seen);
    complete &&= found.length < maxRelations;
    found.forEach((link) => links.set(link.id, link));
    const ends = [...new Set(found.flatMap(({ src_id, dst_id }) => [src_id, dst_id]))].filter(
      (id) => !distances.has(id),
    );
    const fitting = ends.slice(0, Math.max(0, most - distances.size));
    complete &&= fitting.length === ends.length;
    fitting.forEach((id) => distances.set(id, distance));
    edge = fitting;
  }
  const nodes = await nodeStore(db, seen).many([...distances.keys()]);
  const known = new Set(nodes.map(({ id }) => id));
  return {
    nodes: nodes
      .map(({ id, type, name, device_id }) => ({
        id,
        type,
        name,
        device_id,
        distance: distances.get(id)!,
      }))
      .sort((a, b) => a.distance - b.distance || a.id - b.id),
    relations: [...links.values()]
      .filter(({ src_id, dst_id }) => known.has(src_id) && known.has(dst_id))
      .flatMap(spreads),
    complete,
  };
}

/** `cause_id` fails first, and `effect_id` with it; a relation that works both ways is two. */
const spreads = ({
  id,
  type,
  src_id: src,
  dst_id: dst,
  direction,
}: Link): Neighbourhood['relations'] => [
  ...(direction === 'dst_to_src' ? [] : [{ id, type, cause_id: src, effect_id: dst }]),
  ...(direction === 'src_to_dst' ? [] : [{ id, type, cause_id: dst, effect_id: src }]),
];
