import { words } from '../../words.ts';

export const jobs = words('jobs', {
  title: 'Jobs',
  note: 'Background jobs: notifications, investigations, syncs, messages and agent runs.',
  all: 'All',
  waiting: 'Waiting',
  running: 'Running',
  failed: 'Failed',
  state: 'State',
  what: 'Job',
  plugin: 'Plugin',
  tries: 'Attempts',
  created: 'Created',
  next: 'Next attempt',
  none: 'No jobs',
  noneNote: 'Waiting, running and failed jobs appear here.',
  action: 'Action',
  cancel: 'Cancel job',
  cancelled: 'Job cancelled',
  progress: '{done} of {total}',
});
