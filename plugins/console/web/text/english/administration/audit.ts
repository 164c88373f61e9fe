import { words } from '../../words.ts';

export const audit = words('audit', {
  title: 'Audit log',
  note: 'Who did what. Entries are hash-chained; "svc audit verify" detects tampering.',
  all: 'All',
  success: 'Succeeded',
  failure: 'Failed',
  denied: 'Denied',
  outcome: 'Outcome',
  action: 'Action, such as auth:login',
  what: 'Action',
  who: 'User',
  on: 'Resource',
  at: 'Time',
  none: 'No matching entries',
  rows: 'Entries',
  done: 'Actions',
  every: 'All entries',
});
