import { words } from '../words.ts';

export const explore = words('explore', {
  title: 'Explore',
  query: 'PromQL query',
  unit: 'Unit',
  count: 'Count',
  percent: 'Percent',
  bytes: 'Bytes',
  seconds: 'Seconds',
  result: 'Now',
  series: 'Series',
  value: 'Value',
  begin: 'Ask for a metric.',
  beginNote: 'Type a name; what is there is suggested. Or begin with one of these:',
  none: 'No series has a value now.',
  logs: 'Logs',
  traces: 'Traces',
  history: 'Asked before',
});
