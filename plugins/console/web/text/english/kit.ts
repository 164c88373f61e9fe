import { words } from '../words.ts';

export const chart = words('chart', {
  table: 'As a table',
  query: 'Open the query',
  empty: 'Nothing in this time: no samples came, or none match.',
  time: 'Time',
  left: 'and one more line|and {count} more lines',
});

export const dialog = words('dialog', { close: 'Close', dismiss: 'Dismiss' });

export const form = words('form', { save: 'Save', cancel: 'Cancel' });

export const markdown = words('markdown', { image: 'Image' });

export const parts = words('parts', {
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  loading: 'Loading',
  notAllowed: 'Your role may not see this.',
});

export const queryField = words('query-field', {
  run: 'Run',
  suggestions: 'Suggestions',
  hint: 'Enter runs it, Shift Enter makes a line',
});

export const span = words('span', { label: 'Span of time', back: 'Up to now' });

export const status = words('status', {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Info',
  ok: 'OK',
  muted: 'Quiet',
  open: 'Open',
  acknowledged: 'Acknowledged',
  silenced: 'Silenced',
  resolved: 'Resolved',
});

export const table = words('table', {
  more: 'Show more',
  shown: '{count} shown|{count} shown',
  of: 'of',
});

export const time = words('time', {
  ago: '{span} ago',
  ahead: 'in {span}',
  now: 'just now',
  never: 'never',
});
