import type { Plan, Rule } from '../rule.ts';
import type { BackEnd } from './back-end.ts';
import type { Row } from './instance.ts';

/** Rounds in a row that a back end may leave without an answer. */
const mostFailures = 3;

/** The evaluator's own rule: one incident for each back end that does not answer, whatever number of rules ask it. */
export const selfRule: Rule = {
  id: 0,
  rule_key: 'alert_back_end_down',
  name: 'A store that alert rules ask does not answer',
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'monitoring_pipeline',
  join_mode: 'any',
  severity: 'critical',
  enabled: true,
  conditions: [],
  labels: {},
  annotations: {},
  runbook_url: '',
  notify_channel_ids: [],
  notify_window_seconds: 0,
  notify_min_fires: 0,
  dimensions: [],
  interval_seconds: 0,
  keep_firing_for: '',
  limit: 0,
  created_by: 'evaluator',
  created_at: '1970-01-01T00:00:00.000Z',
  updated_at: '1970-01-01T00:00:00.000Z',
};

export const selfPlan: Plan = { join: 'any', legs: [{ store: 'metrics', query: selfRule.rule_key, threshold: mostFailures, forMs: 0 }] };

export const selfRows = (backEnds: Iterable<BackEnd>): ReadonlyMap<string, Row> =>
  new Map(
    [...backEnds]
      .filter(({ failures }) => failures >= mostFailures)
      .map(({ name, failures }): [string, Row] => {
        const key = `${selfRule.rule_key}:${selfRule.scope_type}:${name}`;
        const labels = { pipeline: name };
        return [key, { key, group: key, scopeId: name, deviceId: null, labels, series: labels, value: failures }];
      }),
  );

/** In place of a template: what the store said last. */
export const selfAnnotations = (pipeline: string, backEnds: Iterable<BackEnd>): Readonly<Record<string, string>> => {
  const cause = [...backEnds].find(({ name }) => name === pipeline)?.lastError ?? 'no answer';
  return { summary: `The ${pipeline} store does not answer, so its alert rules keep their state: ${cause}`.slice(0, 1_000) };
};
