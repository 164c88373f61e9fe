import { words } from '../words.ts';

export const onward = words('onward', {
  title: 'Actions for “{title}”',
  moment: 'Time',
  all: 'Whole range',
  at: 'At {time}',
  peak: 'Peak {time}',
  query: 'Query',
  pin: 'Pin to dashboard',
  rule: 'Make a rule',
  logs: 'Open logs',
  traces: 'Open traces',
  ask: 'Ask an agent',
  question:
    'What explains “{title}” between {from} and {to}? Its query is: {query}\nCheck logs, traces and recent changes of the same time.',
  note: 'Add note',
  noteText: 'What happened',
  noted: 'The note was added.',
  events: 'Events in this time range',
  dashboard: 'Dashboard',
  newDashboard: 'New dashboard',
  dashboardName: 'Name of the dashboard',
  panelName: 'Name of the panel',
  openAfter: 'Open the dashboard afterwards',
  pinSubmit: 'Pin',
  pinned: '“{title}” was pinned.',
});
