import { words } from '../words.ts';

export const chart = words('chart', {
  table: 'Show as table',
  query: 'Open query in Explore',
  actions: 'Actions: {title}',
  empty: 'No data in this time range',
  time: 'Time',
  left: 'and 1 more series|and {count} more series',
});

export const labelRows = words('label-rows', {
  name: 'Label name',
  value: 'Label value',
  valueOf: 'Value of {name}',
  add: 'Add label',
  remove: 'Remove label {name}',
});

export const dialog = words('dialog', { close: 'Close', dismiss: 'Dismiss' });

export const form = words('form', { save: 'Save', cancel: 'Cancel' });

export const markdown = words('markdown', { image: 'Image' });

export const parts = words('parts', {
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  loading: 'Loading',
  notAllowed: 'Your role does not allow this. Ask an administrator.',
});

export const span = words('span', {
  label: 'Time range',
  back: 'Back to now',
  free: 'Choose another time range',
  refresh: 'Refresh',
  auto: 'Auto',
  off: 'Off',
  now: 'Refresh now',
  last: 'Last',
  lastHint: 'A length such as 45m, 3h or 14d; or the two times below',
  badLength: 'Write a number with m, h or d, such as 45m; at most 400d.',
  from: 'From',
  to: 'Until',
  badOrder: 'The end must be after the start.',
  show: 'Show range',
});

export const status = words('status', {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Info',
  open: 'Open',
  acknowledged: 'Acknowledged',
  silenced: 'Silenced',
  resolved: 'Resolved',
});

export const table = words('table', {
  more: 'Show more',
  shown: '{count} shown|{count} shown',
  of: 'of',
  chooseAll: 'Select all listed rows',
});

export const time = words('time', {
  ago: '{span} ago',
  ahead: 'in {span}',
  now: 'just now',
  never: 'never',
});
