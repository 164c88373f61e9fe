import { words } from '../../words.ts';

export const dashboard = words('dashboard', {
  notFound: 'Dashboard not found',
  back: 'All dashboards',
  add: 'Add panel',
  edit: 'Edit panel',
  delete: 'Delete panels',
  deleted: 'User panels deleted',
  every: 'All',
  export: 'Export',
  open: 'Open {title}',
  close: 'Close {title}',
  filter: 'job=node, instance=~web.*',
});

export const dashboards = words('dashboards', {
  title: 'Dashboards',
  add: 'Create dashboard',
  import: 'Import dashboard',
  importTitle: 'Import a Grafana dashboard',
  json: 'Dashboard JSON',
  jsonHint: 'As exported from Grafana. Unsupported parts are left out and listed.',
  notJson: 'Invalid JSON: {cause}',
  leftOut: 'Left out of {title}',
  open: 'Open dashboard',
  name: 'Dashboard',
  from: 'Source',
  user: 'users',
  panels: 'Panels',
  variables: 'Variables',
  none: 'No dashboards',
  noneNote: 'Create a dashboard with its first panel, or import one from Grafana.',
});

export const panelForm = words('panel-form', {
  uid: 'Dashboard ID',
  uidHint: "Used in the dashboard's address: letters, digits, - and _.",
  name: 'Panel title',
  firstName: 'Title of the first panel',
  type: 'Visualization',
  query: 'Query',
  queryHint: 'PromQL, or LogQL for log lines.',
  legend: 'Legend',
  legendHint: '{{label}} inserts a label. Leave empty for all labels.',
  unit: 'Unit',
  width: 'Width in columns (1–24)',
  height: 'Height in rows',
  delete: 'Delete panel',
  deleted: 'Panel deleted',
});

export const panel = words('panel', {
  edit: 'Edit {title}',
  nothing: 'No data in this time range',
  left: 'and 1 more series|and {count} more series',
  value: 'Value',
  name: 'Name',
  time: 'Time',
  line: 'Line',
});

export const calcs = words('panel-calcs', {
  last: 'Last',
  first: 'First',
  mean: 'Mean',
  min: 'Min',
  max: 'Max',
  sum: 'Total',
  count: 'Count',
});

/** Symbols of the units that are counted in powers of 1,000. */
export const unitSymbols: Readonly<Record<string, string>> = words('unit-symbols', {
  decimal_bytes: 'B',
  bits_per_second: 'bit/s',
  hertz: 'Hz',
});
