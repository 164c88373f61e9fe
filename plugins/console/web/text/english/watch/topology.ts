import { words } from '../../words.ts';

export const topology = words('topology', {
  title: 'Topology',
  map: 'Map of {count} nodes, {burning} with alerts',
  services: 'Services',
  larger: 'Zoom in',
  smaller: 'Zoom out',
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

export const services = words('services', {
  map: '{services} services with {calls} connections',
  window: 'Calls in the last {window} of this time range',
  none: 'No calls between services',
  noneNote:
    'Send traces over OTLP to /v1/traces, or add services and relations with the API of the topology.',
  calls: 'Calls between services',
  caller: 'Caller and service',
  rate: 'Requests',
  failed: 'Failed',
  p95: 'p95',
});
