import { words } from '../words.ts';

export const overviewBusiest = words('overview-busiest', {
  busiest: 'Busiest devices',
  allDevices: 'All devices',
  device: 'Device',
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Fullest disk',
  load: 'Load',
  noMetrics: 'No metrics yet.',
  noMetricsNote: 'They come within seconds.',
});

export const changes = words('changes', {
  title: 'What changed',
  none: 'Nothing that svc knows of. Tell it of deploys: POST /api/v1/changes.',
});

export const checklist = words('checklist', {
  title: 'First steps',
  hide: 'Hide',
  machine: 'This machine is watched',
  machineNote: 'Its agent starts with svc; figures come within seconds.',
  host: 'Add a host',
  hostNote: 'Run this line there as root. The host appears in Devices by itself.',
  manual: 'Other hosts',
  hostButton: 'Make the line',
  told: 'Be told',
  toldNote: 'Connect a channel, and test it.',
  toldLink: 'Channels',
  incident: 'Try an incident',
  incidentNote: 'Harmless, over after a minute. Acknowledge it, look at it, resolve it.',
  incidentButton: 'Make a test incident',
  incidentComing: 'It fires within 15 seconds.',
  testRule: 'Test incident',
  testSummary: 'Test incident: nothing is wrong',
  testDescription: 'Created from the overview. Resolves automatically after a minute.',
  incidentLink: 'Open incident {id}',
  ask: 'Ask a question',
  askNote: 'What is this machine busy with?',
  askLink: 'Chat',
});

export const overview = words('overview', {
  title: 'Overview',
  critical: 'critical',
  warning: 'warning',
  info: 'info',
  online: 'online',
  silent: 'silent',
  rules: 'rules on watch',
  firing: 'Firing now',
  allIncidents: 'All incidents',
  calm: 'Nothing is firing.',
  calmNote: '{count} rule watches.|{count} rules watch.',
  incident: 'What',
  where: 'Where',
  since: 'Since',
  silentTitle: 'Silent',
  noneSilent: 'Every device is heard.',
  ownHealth: 'svc itself',
  healthy: 'All parts are fit.',
  cpuChart: 'CPU of the busiest',
  memoryChart: 'Memory in use',
  failing: 'rules fail',
});
