import { words } from '../../words.ts';

export const logLines = words('log-lines', {
  follow: 'Follow logs',
  stop: 'Stop following',
  none: 'No log lines in this time range',
  noneNote: 'Choose a longer time range or remove a filter.',
  lines: 'Log lines',
  wrap: 'Wrap lines',
});

export const logs = words('logs', {
  title: 'Logs',
  query: 'LogQL query',
  search: 'Search log lines',
  of: 'Service',
  any: 'All services',
});
