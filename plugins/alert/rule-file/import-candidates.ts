import { formatDuration, parseDuration } from 'svc/query';
import { messageOf } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Draft } from '../authoring/rule-draft.ts';
import type { ImportShown, RuleFileBody } from '../authoring/rule-schema.ts';
import type { NewRecording } from '../recording/recording-store.ts';
import { mayAsk } from '../template/answers.ts';
import { assertRendersInPrometheus } from '../template/template.ts';
import { errors } from './errors.ts';
import type { FileRule, RuleFile, RuleGroup } from './prometheus-file.ts';
import { severityOfWord } from '../rule/severity.ts';

export type ImportRequest = Static<typeof RuleFileBody>;
export type ImportReport = Static<typeof ImportShown>;

/** Rule of a file converted to ours, with what was dropped. */
export interface Candidate {
  readonly group: string;
  readonly alert: string;
  readonly draft: Draft;
  readonly notes: readonly string[];
}

export interface Candidates {
  readonly alerts: readonly Candidate[];
  /** Alerts that cannot become rules, with the reason. */
  readonly invalid: ImportReport['left_out'];
  readonly recordings: readonly NewRecording[];
}

/** Converts a rule file into candidate rules. */
export function candidatesOf({ groups }: RuleFile, request: ImportRequest): Candidates {
  const keys = new Map<string, number>();
  const prefix = request.key_prefix ?? '';
  const invalid: ImportReport['left_out'] = [];
  const alerts = groups.flatMap((group) =>
    group.rules.flatMap((rule): readonly Candidate[] => {
      if (rule.alert === undefined) {
        return [];
      }
      try {
        return [candidateOf(group, rule, rule.alert, request, keys)];
      } catch (error) {
        invalid.push({ group: group.name, rule: rule.alert, reason: messageOf(error) });
        return [];
      }
    }),
  );
  return {
    alerts,
    invalid,
    recordings: groups.flatMap((group) =>
      group.rules
        .filter(({ record }) => record !== undefined)
        .map(({ record, expr, labels }, position) => ({
          group: prefix === '' ? group.name : `${prefix.replace(/_$/, '')}_${group.name}`,
          position,
          record: record!,
          expr,
          labels: { ...group.labels, ...labels },
          interval_seconds: Math.min(longestIntervalSeconds, secondsOf(group)),
          limit: group.limit,
          enabled: request.enabled ?? true,
        })),
    ),
  };
}

const longestIntervalSeconds = 86_400;

const secondsOf = ({ interval }: RuleGroup): number =>
  interval === undefined ? 0 : Math.max(5, Math.round(parseDuration(interval) / 1_000));

function candidateOf(
  group: RuleGroup,
  rule: FileRule,
  alert: string,
  request: ImportRequest,
  keys: Map<string, number>,
): Candidate {
  const notes: string[] = [];
  const all = { ...group.labels, ...rule.labels };
  const severity = severityOfWord(all['severity'] ?? '');
  if (severity === undefined && all['severity'] !== undefined && !all['severity'].includes('{{')) {
    notes.push(
      `label severity: ${all['severity']} is not a severity here, so it is ${request.severity ?? 'warning'}`,
    );
  }
  const labels = kept(all, (name, text) => {
    const reason =
      missingIn(text, `label ${name}`) ??
      (mayAsk({ [name]: text }) ? 'labels are rendered without asking the store' : undefined);
    return reason !== undefined && notes.push(`label ${name} was not imported: ${reason}`) > 0;
  });
  const annotations = kept(rule.annotations, (name, text) => {
    const reason = missingIn(text, `annotation ${name}`);
    return reason !== undefined && notes.push(`annotation ${name} was not imported: ${reason}`) > 0;
  });
  const { runbook_url: runbook, ...others } = annotations;
  const address =
    runbook !== undefined && /^https?:\/\/\S+$/.test(runbook) && !runbook.includes('{{')
      ? runbook
      : undefined;
  const lasting = rule.for === undefined ? 0 : parseDuration(rule.for);
  const interval = secondsOf(group);
  note(
    notes,
    group.queryOffset !== undefined,
    'query_offset of the group was not imported: the delay of samples is known for each store',
  );
  note(
    notes,
    interval > longestIntervalSeconds,
    'the interval of the group is longer than a day and was not imported',
  );
  return {
    group: group.name,
    alert,
    notes,
    draft: {
      rule_key: keyOf(alert, request.key_prefix ?? '', keys),
      name: alert.slice(0, 200),
      kind: 'metric_raw',
      source_type: 'metricsdb_external',
      scope_type: request.scope_type ?? 'global',
      join_mode: 'all',
      severity: severity ?? request.severity ?? 'warning',
      enabled: request.enabled ?? true,
      conditions: [{ expr: rule.expr, ...(lasting > 0 && { for: formatDuration(lasting) }) }],
      labels: { alertname: alert.slice(0, 1_000), ...labels },
      annotations: address === undefined ? annotations : others,
      ...(address !== undefined && { runbook_url: address }),
      ...(interval <= longestIntervalSeconds && { interval_seconds: interval }),
      keep_firing_for: formatDuration(parseDuration(rule.keepFiringFor ?? '0s')),
      limit: group.limit,
      ...(request.dimensions !== undefined && { dimensions: request.dimensions }),
    },
  };
}

const note = (notes: string[], is: boolean, text: string): void => void (is && notes.push(text));

const kept = (
  texts: Readonly<Record<string, string>>,
  drop: (name: string, text: string) => boolean | undefined,
): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).filter(([name, text]) => drop(name, text) !== true));

/**
 * Returns what a template needs that cannot be rendered here; throws for a template that is invalid
 * anywhere.
 */
function missingIn(text: string, where: string): string | undefined {
  try {
    return assertRendersInPrometheus(text);
  } catch (error) {
    throw errors.file_place({ where, cause: messageOf(error) }, { cause: error });
  }
}

/** `HighCPU` is `high_cpu`; a second one of the same name gets a number. */
export function keyOf(alert: string, prefix: string, keys: Map<string, number>): string {
  const snake = alert
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=[0-9])/, 'alert_');
  const key =
    `${prefix === '' ? '' : `${prefix.replace(/_$/, '')}_`}${snake === '' ? 'alert' : snake}`.slice(
      0,
      90,
    );
  const count = (keys.get(key) ?? 0) + 1;
  keys.set(key, count);
  return count === 1 ? key : `${key}_${count}`;
}
