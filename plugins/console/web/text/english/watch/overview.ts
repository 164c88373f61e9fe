import { words } from '../../words.ts';

export const overviewBusiest = words('overview-busiest', {
  busiest: 'Busiest devices',
  allDevices: 'All devices',
  device: 'Device',
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Fullest disk',
  load: 'Load',
  noMetrics: 'No metrics yet',
  noMetricsNote: 'Metrics arrive within seconds.',
});

export const changes = words('changes', {
  title: 'Recent changes',
  none: 'No changes. Report deploys with POST /api/v1/changes.',
  more: 'and {count} similar change|and {count} similar changes',
});

export const checklist = words('checklist', {
  title: 'First steps',
  hide: 'Hide first steps',
  machine: 'Monitor this machine',
  machineNote: 'Its agent starts with svc.',
  host: 'Add a host',
  hostNote: 'Run the install command on the host as root.',
  manual: 'How to add hosts',
  hostButton: 'Create install command',
  notify: 'Set up notifications',
  notifyNote: 'Create a channel and test it.',
  notifyLink: 'Open channels',
  incident: 'Try an incident',
  incidentNote: 'Harmless. Resolves after a minute.',
  incidentButton: 'Create test incident',
  incidentComing: 'Fires within 15 seconds.',
  testRule: 'Test incident',
  testSummary: 'Test incident: nothing is wrong',
  incidentLink: 'Open incident {id}',
  ask: 'Ask a question',
  askNote: 'What is keeping this machine busy?',
  askLink: 'Open chat',
});

export const overview = words('overview', {
  title: 'Overview',
  online: 'Online',
  offline: 'Offline',
  rules: 'Rules enabled',
  firing: 'Open incidents',
  allIncidents: 'All incidents',
  calm: 'No open incidents',
  calmNote: '{count} rule is enabled.|{count} rules are enabled.',
  incident: 'Incident',
  where: 'Where',
  since: 'Since',
  offlineTitle: 'Offline devices',
  allOnline: 'All devices online',
  ownHealth: 'svc health',
  healthy: 'All components healthy',
  cpuChart: 'CPU usage',
  memoryChart: 'Memory usage',
  failing: 'Failing rules',
});
