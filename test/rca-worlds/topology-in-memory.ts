import type { Neighbourhood, TopologyGraph } from 'svc/contracts/topology';

import type { MadeWorld } from '../../plugins/investigate/cli/bench/worlds/make.ts';

/** Answers what is near in the topology of a world, as the store of svc does. */
export function topologyInMemory({
  nodes,
  relations,
}: MadeWorld['topology']): Pick<TopologyGraph, 'neighbourhood'> {
  const known = nodes.map(({ type, name }, at) => ({ id: at + 1, type, name, device_id: null }));
  const ids = new Map(known.map(({ id, name }) => [name, id]));
  const links = relations.map(([from, to, type], at) => ({
    id: at + 1,
    type,
    cause_id: ids.get(to)!,
    effect_id: ids.get(from)!,
  }));
  return {
    async neighbourhood({ names = [], depth, most = 500 }): Promise<Neighbourhood> {
      const distances = new Map(
        known.filter(({ name }) => names.includes(name)).map(({ id }) => [id, 0]),
      );
      const found = new Map<number, (typeof links)[number]>();
      let edge = [...distances.keys()];
      for (let distance = 1; distance <= depth && edge.length > 0; distance += 1) {
        const near = links.filter(
          ({ cause_id: cause, effect_id: effect }) => edge.includes(cause) || edge.includes(effect),
        );
        near.forEach((link) => found.set(link.id, link));
        const ends = [
          ...new Set(near.flatMap(({ effect_id: effect, cause_id: cause }) => [effect, cause])),
        ].filter((id) => !distances.has(id));
        edge = ends.slice(0, Math.max(0, most - distances.size));
        edge.forEach((id) => distances.set(id, distance));
      }
      return {
        nodes: known
          .filter(({ id }) => distances.has(id))
          .map((node) => ({ ...node, distance: distances.get(node.id)! }))
          .sort((a, b) => a.distance - b.distance || a.id - b.id),
        relations: [...found.values()].filter(
          ({ cause_id: cause, effect_id: effect }) => distances.has(cause) && distances.has(effect),
        ),
        complete: true,
      };
    },
  };
}
