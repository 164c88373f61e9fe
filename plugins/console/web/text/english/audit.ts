import { words } from '../words.ts';

export const audit = words('audit', {
  title: 'Audit',
  note: 'Who did what. The rows are chained: "svc audit verify" proves that none was altered.',
  all: 'All',
  success: 'Done',
  failure: 'Failed',
  denied: 'Denied',
  outcome: 'Outcome',
  action: 'Action, such as auth:login',
  what: 'What',
  who: 'Who',
  on: 'On',
  at: 'When',
  none: 'Nothing of this kind was done.',
  rows: 'Rows',
  done: 'What was done',
  every: 'Every row',
});
