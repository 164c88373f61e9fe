import { words } from '../words.ts';

export const jobs = words('jobs', {
  title: 'Jobs',
  note: 'Work of svc in the background: notifications, investigations, syncs, messages, agents.',
  all: 'All',
  waiting: 'Waiting',
  running: 'Running',
  failed: 'Failed',
  state: 'State',
  what: 'Job',
  plugin: 'Plugin',
  tries: 'Tries',
  created: 'Created',
  next: 'Next try',
  none: 'No jobs',
  noneNote: 'Work that waits, runs or has failed appears here.',
  action: 'Action',
  cancel: 'Cancel job',
  cancelled: 'Job cancelled',
  progress: '{done} of {total}',
});
