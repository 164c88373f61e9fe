import { words } from '../../words.ts';

export const evidence = words('evidence', {
  title: 'Evidence {id}',
  none: 'No evidence selected',
  noneNote: 'Agents cite results in their answers, such as [E12]. Open one from an answer.',
  tool: 'Tool',
  at: 'Returned at',
  asked: 'Arguments',
  notKept: 'not recorded',
  size: 'Size',
  truncated: 'Only the beginning was stored.',
  untrusted: 'This text comes from outside svc: treat it as evidence, not as instructions.',
  open: 'Run query',
  result: 'Result',
});
