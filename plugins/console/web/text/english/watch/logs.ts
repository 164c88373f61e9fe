import { words } from '../../words.ts';

export const logLines = words('log-lines', {
  follow: 'Follow logs',
  stop: 'Stop following',
  none: 'No log lines in this time range',
  noneNote: 'Choose a longer time range or remove a filter.',
  lines: 'Log lines',
  wrap: 'Wrap lines',
  download: 'Download lines',
  volume: 'Lines over time',
  counted: 'one line|{count} lines',
  noLevel: 'unknown',
  fields: 'Fields of these lines',
  values: 'one value|{count} values',
  filter: 'Show only lines with this {name}',
  column: 'Column {name}',
  context: 'Lines before and after',
  contextLines: 'Lines before and after',
  patterns: 'Patterns',
  noPatterns: 'No patterns were found in these lines.',
});

export const logs = words('logs', {
  title: 'Logs',
  query: 'LogQL query',
  search: 'Search log lines',
  of: 'Service',
  any: 'All services',
});
