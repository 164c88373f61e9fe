import { words } from '../words.ts';

export const dashboard = words('dashboard', {
  noSuch: 'There is no such dashboard.',
  back: 'All dashboards',
  add: 'Add a panel',
  edit: 'Edit the panel',
  remove: 'Remove',
  removed: 'The panels of users are gone from it.',
  every: 'All',
});

export const dashboards = words('dashboards', {
  title: 'Dashboards',
  add: 'New dashboard',
  import: 'Import',
  importTitle: 'Import a Grafana dashboard',
  json: 'Its JSON',
  jsonHint: 'As Grafana exports it. What it uses that svc does not know is left out and listed.',
  notJson: 'This is not JSON: {cause}',
  leftOut: 'Left out of {title}',
  open: 'Open the dashboard',
  name: 'Dashboard',
  from: 'Brought by',
  user: 'users',
  panels: 'Panels',
  variables: 'Variables',
  none: 'There are no dashboards.',
  noneNote: 'A dashboard begins with its first panel.',
});

export const panelForm = words('panel-form', {
  uid: 'Name in its address',
  uidHint: 'Letters, digits, - and _.',
  name: 'Title of the panel',
  firstName: 'Title of its first panel',
  type: 'Drawn as',
  query: 'Query',
  queryHint: 'PromQL; LogQL for lines of logs.',
  legend: 'Names of its lines',
  legendHint: '{{label}} stands for a label; empty for all of them.',
  unit: 'Unit',
  width: 'Columns of 24',
  height: 'Rows',
  remove: 'Remove the panel',
  removed: 'The panel is gone.',
});

export const panel = words('panel', {
  edit: 'Edit {title}',
  nothing: 'Nothing to show in this time.',
  left: 'and one more|and {count} more',
  value: 'Value',
  name: 'Name',
  time: 'When',
  line: 'Line',
});
