import { words } from '../../words.ts';

export const explore = words('explore', {
  title: 'Explore',
  query: 'PromQL query',
  unit: 'Unit',
  count: 'Count',
  percent: 'Percent',
  bytes: 'Bytes',
  seconds: 'Seconds',
  result: 'Current values',
  series: 'Series',
  value: 'Value',
  begin: 'No query yet',
  beginNote: 'Type a metric name to see suggestions, or start with one of these:',
  none: 'No series currently has a value',
  logs: 'Logs',
  traces: 'Traces',
  history: 'Recent queries',
});
