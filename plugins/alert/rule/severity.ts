import type { Severity } from 'svc/contracts/notify';

import type { Rule } from './rule.ts';

/** Words for severities that rule files use. */
const severities: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  page: 'critical',
  emergency: 'critical',
  error: 'critical',
  major: 'critical',
  high: 'critical',
  warning: 'warning',
  warn: 'warning',
  ticket: 'warning',
  minor: 'warning',
  info: 'info',
  informational: 'info',
  low: 'info',
  none: 'info',
};

const rising: readonly Severity[] = ['info', 'warning', 'critical'];

/** Returns the severity that a word of a rule file stands for. */
export const severityOfWord = (word: string): Severity | undefined =>
  Object.hasOwn(severities, word.toLowerCase()) ? severities[word.toLowerCase()] : undefined;

export const isWorseSeverity = (severity: Severity, than: Severity): boolean =>
  rising.indexOf(severity) > rising.indexOf(than);

/** Returns whether each instance of a rule has a severity of its own: its label is a template. */
export const hasComputedSeverity = ({ labels }: Pick<Rule, 'labels'>): boolean =>
  labels['severity']?.includes('{{') === true;

/** Returns the worst severity of the firing instances where the rule computes it, otherwise that of the rule. */
export function severityOf(
  rule: Pick<Rule, 'labels' | 'severity'>,
  instances: Iterable<{
    readonly labels: Readonly<Record<string, string>>;
    readonly phase: string;
  }>,
): Severity {
  if (!hasComputedSeverity(rule)) {
    return rule.severity;
  }
  let worst: Severity | undefined;
  for (const { labels, phase } of instances) {
    const severity = severityOfWord(labels['severity'] ?? '') ?? rule.severity;
    if (phase === 'firing' && (worst === undefined || isWorseSeverity(severity, worst))) {
      worst = severity;
    }
  }
  return worst ?? rule.severity;
}
