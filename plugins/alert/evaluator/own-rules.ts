import { maxSeries } from '../instance/answer-rows.ts';
import type { Row } from '../instance/instance.ts';
import { maxInstances } from '../instance/moves.ts';
import type { BackEnd } from '../queries/back-end.ts';
import type { Plan, Rule } from '../rule/rule.ts';
import type { ScheduledRule } from './scheduled-rule.ts';

/** State of the evaluator that its own rules look at. */
export interface OwnState {
  readonly backEnds: Iterable<BackEnd>;
  readonly rules: Iterable<ScheduledRule>;
}

/** A rule of the evaluator itself: one incident for each pipeline that its rows name. */
export interface OwnRule {
  readonly rule: Rule;
  readonly plan: Plan;
  rows(state: OwnState): ReadonlyMap<string, Row>;
  /** Annotations, which replace a template. */
  annotations(pipeline: string, state: OwnState): Readonly<Record<string, string>>;
}

/** A rule that no file and no request has made. */
export const unwritten: Omit<Rule, 'id' | 'rule_key' | 'name' | 'severity'> = {
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'monitoring_pipeline',
  join_mode: 'any',
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

/** A store that fails is told soon, and that it is back: its state costs nothing to look at. */
const everySeconds = 2;

const storeDown = ownRule(
  {
    id: 0,
    rule_key: 'alert_back_end_down',
    name: 'A store used by alert rules is not responding',
    severity: 'critical',
    interval_seconds: everySeconds,
  },
  { threshold: 0, forMs: 0 },
  {
    *found({ backEnds }) {
      for (const { name, failures, isDown } of backEnds) {
        if (isDown) {
          yield [name, failures];
        }
      }
    },
    summary(pipeline, { backEnds }) {
      const cause = [...backEnds].find(({ name }) => name === pipeline)?.lastError ?? 'no answer';
      return `The ${pipeline} store is not responding, so its alert rules keep their state: ${cause}`;
    },
  },
);

const overflow = ownRule(
  {
    id: -1,
    rule_key: 'alert_rule_overflow',
    name: 'An alert rule matches more series than allowed',
    severity: 'warning',
  },
  { threshold: 0, forMs: 0 },
  {
    *found({ rules }) {
      for (const { rule, unread, leftOut } of rules) {
        if (unread + leftOut > 0) {
          yield [rule.rule_key, unread + leftOut];
        }
      }
    },
    summary(pipeline, { rules }) {
      const { unread = 0, leftOut = 0 } =
        [...rules].find(({ rule }) => rule.rule_key === pipeline) ?? {};
      const bounds = `a query may return ${maxSeries} series, and a rule may have ${maxInstances} instances`;
      return `${unread + leftOut} series matched by the rule ${pipeline} raise no incidents: ${bounds}; group its expression by fewer labels`;
    },
  },
);

export const ownRules: readonly OwnRule[] = [storeDown, overflow];

export const ownRuleOf = ({ id }: Pick<Rule, 'id'>): OwnRule | undefined =>
  ownRules.find(({ rule }) => rule.id === id);

interface OwnParts {
  summary(pipeline: string, state: OwnState): string;
  /** Pipelines that breach, with what was measured. */
  found(state: OwnState): Iterable<readonly [pipeline: string, value: number]>;
}

function ownRule(
  named: Pick<Rule, 'id' | 'rule_key' | 'name' | 'severity'> & Partial<Rule>,
  bounds: Pick<Plan['legs'][number], 'threshold' | 'forMs'>,
  { found, summary }: OwnParts,
): OwnRule {
  const rule: Rule = { ...unwritten, ...named };
  return {
    rule,
    plan: { join: 'any', legs: [{ store: 'metrics', query: rule.rule_key, ...bounds }] },
    rows: (state) =>
      new Map(
        [...found(state)].map(([pipeline, value]): [string, Row] => {
          const key = `${rule.rule_key}:${rule.scope_type}:${pipeline}`;
          const labels = { pipeline };
          return [
            key,
            { key, group: key, scopeId: pipeline, deviceId: null, labels, series: labels, value },
          ];
        }),
      ),
    annotations: (pipeline, state) => ({ summary: summary(pipeline, state).slice(0, 1_000) }),
  };
}
