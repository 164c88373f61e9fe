import type { AlertingRule, AlertingRules } from '../../metricsdb/contract.ts';
import type { Plan } from '../rule.ts';
import type { AlertSeries } from './alert-series.ts';
import type { Evaluator } from './evaluator.ts';
import type { ScheduledRule } from './scheduled-rule.ts';

/** The rules that are evaluated, as peers of Prometheus ask for them. */
export class ShownRules implements AlertingRules {
  readonly #evaluator: Evaluator;
  readonly #alerts: AlertSeries;

  constructor(evaluator: Evaluator, alerts: AlertSeries) {
    this.#evaluator = evaluator;
    this.#alerts = alerts;
  }

  rules(): readonly AlertingRule[] {
    return [...this.#evaluator.rules].map((scheduled) => this.#shown(scheduled));
  }

  #shown({ rule, plan, intervalMs, error, lastOk, evaluatedAt, ms }: ScheduledRule): AlertingRule {
    return {
      name: rule.name,
      group: rule.kind,
      query: queryOf(plan),
      intervalMs,
      forMs: Math.max(0, ...plan.legs.map(({ forMs }) => forMs)),
      labels: { ...rule.labels, severity: rule.severity, rule_key: rule.rule_key },
      annotations: rule.annotations,
      health: error !== undefined ? 'err' : lastOk === undefined ? 'unknown' : 'ok',
      ...(error !== undefined && { lastError: error }),
      ...(evaluatedAt !== undefined && { evaluatedAt }),
      evaluationMs: ms,
      alerts: this.#alerts.activeOf(rule.id),
    };
  }
}

const queryOf = ({ legs, join }: Plan): string =>
  legs.length === 1 ? legs[0]!.query : legs.map(({ query }) => `(${query})`).join(join === 'all' ? ' and ' : ' or ');
