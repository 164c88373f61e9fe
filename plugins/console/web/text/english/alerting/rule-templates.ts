import { words } from '../../words.ts';

/** Names of the rules that a new one may start from. */
export const ruleTemplates = words('rule-templates', {
  cpu: 'CPU is busy',
  memory: 'Memory is nearly used up',
  disk: 'A disk is nearly full',
  diskSoon: 'A disk will be full within a day',
  offline: 'A host is offline',
  latency: 'A service is slow',
  failures: 'A service fails',
  budget: 'An error budget is spent too fast',
  checkDown: 'A check is down',
  checkSlow: 'A check is slow',
  certificate: 'A certificate expires soon',
  logLine: 'A line appears in the logs',
  logMany: 'Many log lines match',
  absent: 'A metric does not exist',
  stopped: 'A series has stopped',
  anomaly: 'A metric leaves its usual range',
  own: 'Any PromQL query',
});

export const templateNotes = words('rule-template-notes', {
  cpu: 'Average over five minutes',
  memory: 'Average over five minutes',
  disk: 'One incident per mount point',
  diskSoon: 'A straight line through six hours',
  offline: 'Its agent has not reported for a minute',
  latency: 'A percentile of its calls',
  failures: 'The percentage of its calls that fail',
  budget: 'A long and a short window above a factor',
  checkDown: 'One incident per check',
  checkSlow: 'Average over ten minutes',
  certificate: 'Less than two weeks are left',
  logLine: 'Each matching line counts',
  logMany: 'Lines per host in five minutes',
  absent: 'No series has these labels',
  stopped: 'It had samples within an hour, and none for ten minutes',
  anomaly: 'Standard deviations from its own past',
  own: 'Compare a query with a number',
});

export const templateSubjects = words('rule-template-subjects', {
  host: 'Hosts',
  service: 'Services',
  check: 'Checks',
  log: 'Logs',
  data: 'Absent data',
  own: 'Anything else',
});
