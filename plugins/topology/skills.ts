import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import type { Nodes } from './nodes.ts';

const common = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;

const Find = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only nodes whose name contains this text.',
    }),
  ),
  type: Type.Optional(
    Type.String({ maxLength: 100, description: 'Node type, such as host or service.' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 30 }),
});
const Blast = Type.Object({
  node_id: Type.Optional(Type.Integer({ minimum: 1 })),
  device_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Instead of node_id: the host node of this device.' }),
  ),
  depth: Type.Integer({ minimum: 1, maximum: 10, default: 3 }),
});

/** Skills by which agents and people query the topology. */
export const topologySkills = (nodes: Nodes): readonly ToolSkill[] => [
  toolSkill({
    ...common,
    key: 'topology_find',
    name: 'Find nodes',
    description: 'Topology nodes, such as hosts and services, by name and type.',
    params: Find,
    run: async ({ q, type, limit }, { principal }) => {
      const { items, total } = await nodes.list(principal, { q, type, tags: [] }, { limit });
      return { total, nodes: items };
    },
  }),
  toolSkill({
    ...common,
    key: 'topology_blast_radius',
    name: 'Blast radius',
    description:
      'What the failure of a node affects, nearest first, following relations that propagate failure.',
    params: Blast,
    run: async ({ node_id: node, device_id: device, depth }, { principal }) => {
      if ((node === undefined) === (device === undefined)) {
        throw errors.which_node();
      }
      return await (node === undefined
        ? nodes.blastOfDevice(principal, device!, depth)
        : nodes.blast(principal, node, depth));
    },
  }),
];
