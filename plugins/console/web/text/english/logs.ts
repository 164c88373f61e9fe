import { words } from '../words.ts';

export const logLines = words('log-lines', {
  follow: 'Follow',
  stop: 'Stop following',
  none: 'No line in this time.',
  noneNote: 'Look at a longer span, or at fewer conditions.',
  lines: 'Lines',
  wrap: 'Wrap lines',
  most: 'The newest {count}; older ones are there.',
});

export const logs = words('logs', {
  title: 'Logs',
  query: 'LogQL query',
  search: 'Find in the lines',
  of: 'of',
  any: 'anything',
});
