import type { BlastRadius, Reached } from 'svc/contracts/topology';
import type { SeenDevices } from 'svc/query';

import { relationStore } from './relation-store.ts';
import type { TopologyDb } from './tables.ts';

export const mostReached = 1_000;

/** Breadth first, so that each node is reached on a shortest way; of several of those, on the one by the oldest relation. */
export async function blastRadius(
  db: TopologyDb,
  nodeId: number,
  depth: number,
  seen: SeenDevices,
  most = mostReached,
): Promise<BlastRadius> {
  const { steps } = relationStore(db, seen);
  const known = new Set([nodeId]);
  const reached: Reached[] = [];
  let edge: readonly number[] = [nodeId];
  for (let distance = 1; edge.length > 0; distance += 1) {
    const beyond = distance > depth;
    const found = await steps(edge, known, beyond ? 1 : most - reached.length + 1);
    if (beyond) {
      return { reached, complete: found.length === 0 };
    }
    const fitting = found.slice(0, most - reached.length);
    for (const { reached: id, relation, type, origin } of fitting) {
      known.add(id);
      reached.push({
        node_id: id,
        distance,
        via: { relation_id: relation, type, from_node_id: origin },
      });
    }
    if (fitting.length < found.length) {
      return { reached, complete: false };
    }
    edge = fitting.map(({ reached: id }) => id);
  }
  return { reached, complete: true };
}
