import { words } from '../words.ts';

export const topology = words('topology', {
  title: 'Topology',
  map: 'Map of {count} nodes',
  search: 'Search nodes',
  none: 'There are no nodes.',
  noneNote:
    'Hosts come by themselves; services and what depends on what are added by POST /api/v1/topology/relations.',
  reached: 'What fails with {name}',
  nothing: 'Nothing else depends on it.',
  node: 'Node',
  type: 'Kind',
  steps: 'Steps away',
  nodes: 'one node|{count} nodes',
});
