import { words } from '../../words.ts';

export const topology = words('topology', {
  title: 'Topology',
  map: 'Map of {count} nodes',
  search: 'Search nodes',
  none: 'No nodes',
  noneNote:
    'Hosts appear when they connect. Add services and dependencies with POST /api/v1/topology/relations.',
  reached: 'Affected if {name} fails',
  nothing: 'No other node depends on it',
  node: 'Nodes',
  type: 'Type',
  steps: 'Hops',
  nodes: '1 node|{count} nodes',
});
