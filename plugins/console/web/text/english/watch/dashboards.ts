import { words } from '../../words.ts';

export const dashboard = words('dashboard', {
  notFound: 'Dashboard not found',
  back: 'All dashboards',
  edit: 'Edit dashboard',
  versions: 'Versions',
  duplicate: 'Duplicate',
  kiosk: 'Full screen',
  share: 'Share',
  leaveKiosk: 'Leave full screen',
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
  noneNote: 'Create a dashboard, or import one from Grafana.',
  newName: 'Title',
});

export const panelForm = words('panel-form', {
  add: 'Add panel',
  edit: 'Edit panel',
  name: 'Panel title',
  content: 'Text',
  contentHint: 'Markdown.',
  description: 'Description',
  warning: 'Warning from',
  critical: 'Critical from',
  apply: 'Apply',
  type: 'Visualization',
  query: 'Query',
  queryHint: 'PromQL; LogQL for log lines, TraceQL for traces.',
  links: 'Links to other dashboards',
  linkTo: 'Dashboard',
  linkTitle: 'Link text',
  addLink: 'Add link',
  removeLink: 'Remove link',
  legend: 'Legend',
  legendHint: '{{label}} inserts a label. Leave empty for all labels.',
  unit: 'Unit',
});

export const panel = words('panel', {
  edit: 'Edit {title}',
  nothing: 'No data in this time range',
  newest: 'The newest {count} are shown; there are more.',
  notShared: 'Sign in to see the topology.',
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
