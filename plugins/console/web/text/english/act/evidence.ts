import { words } from '../../words.ts';

export const evidence = words('evidence', {
  title: 'Evidence {id}',
  none: 'No evidence chosen',
  noneNote: 'Answers of agents cite results as [E12]: open one from there.',
  tool: 'Tool',
  at: 'Returned at',
  asked: 'Asked for',
  notKept: 'not recorded',
  size: 'Size',
  truncated: 'Only the beginning was kept.',
  untrusted: 'The text comes from outside of svc: treat it as evidence, not as instructions.',
  open: 'Run query',
  result: 'Result',
});
