import type { AlertingRule, AlertingRules } from 'svc/contracts/alert';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import type { SeenDevices } from 'svc/query';
import { type Handle, type HealthReport, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Ledger } from '../incident/ledger/ledger.ts';
import { RuntimeInfo } from '../incident/schema.ts';
import { maxSeries } from '../instance/answer-rows.ts';
import { maxInstances } from '../instance/moves.ts';
import type { BackEnd } from '../queries/back-end.ts';
import type { LiveRules, Plan, Rule } from '../rule/rule.ts';
import type { AlertSeries } from './alert-series.ts';
import type { EvaluatorCounters } from './counters.ts';
import type { Evaluator } from './evaluator.ts';
import type { ScheduledRule } from './scheduled-rule.ts';
import { unheardRules } from './unheard-rules.ts';

export interface InfoParts {
  readonly evaluator: Evaluator;
  readonly counters: EvaluatorCounters;
  readonly ledger: Ledger;
  readonly liveRules: LiveRules;
  readonly backEnds: Iterable<BackEnd>;
  readonly channels: Handle<NoticeDispatcher>;
  readonly intervalMs: () => number;
  readonly cooldownMs: () => number;
}

const maxListed = 20;
/**
 * Max failing rules listed; more than the built-in ones, all of which fail together when a store is
 * down.
 */
const maxFaulty = 100;

export const runtimeRoutes = (parts: InfoParts): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/alerts/runtime-info',
    access: 'any',
    summary: "Get the evaluator's interval and the result of its last cycle",
    response: RuntimeInfo,
    handle: async () => {
      const info = runtimeInfo(parts);
      const unheard = await unheardRules(parts.liveRules.enabled(), parts.channels);
      const warnings = unheard.map(({ rule, message }) => ({ ...named({ rule }), message }));
      return { ...info, warnings: [...info.warnings, ...warnings] };
    },
  }),
];

export function runtimeInfo({
  evaluator,
  counters,
  ledger,
  liveRules,
  backEnds,
  intervalMs,
  cooldownMs,
}: InfoParts): Static<typeof RuntimeInfo> {
  const rules = evaluator.rules;
  const { cycle } = counters;
  const phases = { partial: 0, pending: 0, firing: 0, held: 0 };
  for (const instances of ledger.instances.values()) {
    for (const { phase } of instances.values()) {
      phases[phase] += 1;
    }
  }
  return {
    interval_seconds: intervalMs() / 1_000,
    cooldown_seconds: cooldownMs() / 1_000,
    rules_total: liveRules.total,
    rules_enabled: liveRules.enabled().length,
    last_cycle: {
      started_at: cycle === undefined ? null : timestamp(cycle.startedAt),
      duration_ms: Math.round((cycle?.durationMs ?? 0) * 1_000) / 1_000,
      rules_evaluated: cycle?.rulesEvaluated ?? 0,
      rules_failed: cycle?.rulesFailed ?? 0,
      series_seen: cycle?.seriesSeen ?? 0,
      missed: cycle?.missed ?? 0,
      firing: phases.firing,
      pending: phases.pending,
    },
    slowest: slowestOf(rules).map(({ rule, ms, series }) => ({
      ...named({ rule }),
      duration_ms: Math.round(ms * 1_000) / 1_000,
      series,
    })),
    failing: [...failingWork(evaluator), ...failingRules(rules)],
    warnings: firstOf(
      rules,
      ({ unscoped, unread, leftOut, stale }) => unscoped + unread + leftOut + stale.size > 0,
    ).flatMap((scheduled) =>
      warningsOf(scheduled).map((message) => ({ ...named(scheduled), message })),
    ),
    back_ends: [...backEnds].map(({ name, failures, lastError }) => ({
      name,
      ok: failures === 0,
      failures,
      error: lastError ?? null,
    })),
  };
}

/** Consecutive failures from which on it is no hiccup. */
const maxFailures = 3;

/**
 * Returns whether the evaluator can store its findings and do its work; a rule whose query fails is
 * no fault of the evaluator.
 */
export function evaluatorHealth({ rules, failing }: Evaluator): HealthReport {
  const stuck = [...failing].find(({ failures }) => failures >= maxFailures);
  if (stuck !== undefined) {
    return {
      ok: false,
      detail: `the alert evaluator failed to ${stuck.what} ${stuck.failures} times in a row: ${stuck.error}`,
    };
  }
  const unstored = firstOf(rules, (scheduled) => scheduled.unstored >= maxFailures);
  return unstored.length === 0
    ? { ok: true }
    : { ok: false, detail: `alert rule ${unstored[0]!.rule.rule_key} ${unstored[0]!.error}` };
}

type Failing = Static<typeof RuntimeInfo>['failing'][number];

/** Returns the failing background work, under an id that no rule has. */
const failingWork = ({ failing }: Evaluator): readonly Failing[] =>
  [...failing].map(({ what, error, failures, since }) => ({
    rule_id: 0,
    rule_key: 'alert_evaluator',
    error: `could not ${what}: ${error}`,
    failures,
    since: timestamp(since),
  }));

const failingRules = (rules: Iterable<ScheduledRule>): readonly Failing[] =>
  firstOf(rules, ({ error }) => error !== undefined).map(
    ({ rule, error, failures, errorSince }) => ({
      ...named({ rule }),
      error: error!,
      failures,
      since: errorSince === undefined ? null : timestamp(errorSince),
    }),
  );

/** Returns the slowest rules without sorting thousands of them, since this is asked often. */
function slowestOf(rules: Iterable<ScheduledRule>): readonly ScheduledRule[] {
  const slowest: ScheduledRule[] = [];
  for (const scheduled of rules) {
    const last = slowest.at(-1);
    if (scheduled.ms > 0 && (slowest.length < maxListed || scheduled.ms > last!.ms)) {
      slowest.splice(slowest.findLastIndex(({ ms }) => ms >= scheduled.ms) + 1, 0, scheduled);
      slowest.length = Math.min(slowest.length, maxListed);
    }
  }
  return slowest;
}

function firstOf(
  rules: Iterable<ScheduledRule>,
  is: (scheduled: ScheduledRule) => boolean,
): readonly ScheduledRule[] {
  const found: ScheduledRule[] = [];
  for (const scheduled of rules) {
    if (is(scheduled) && found.push(scheduled) === maxFaulty) {
      break;
    }
  }
  return found;
}

const named = ({ rule }: { readonly rule: Rule }): { rule_id: number; rule_key: string } => ({
  rule_id: rule.id,
  rule_key: rule.rule_key,
});

const warningsOf = ({ unscoped, unread, leftOut, stale }: ScheduledRule): readonly string[] => [
  ...(stale.size > 0
    ? [
        `${stale.size} instances are stale since ${timestamp(Math.min(...[...stale.values()].map(({ wall }) => wall)))}: their source has not been heard since`,
      ]
    : []),
  ...(unscoped > 0
    ? [
        `${unscoped} series have no device_id and raise no incidents, because the scope of the rule is host`,
      ]
    : []),
  ...(unread > 0
    ? [`${unread} series are ignored: the limit is ${maxSeries} a query; use a narrower expression`]
    : []),
  ...(leftOut > 0
    ? [
        `${leftOut} breaching series raise no incidents: the limit is ${maxInstances} instances a rule; group the expression by fewer labels`,
      ]
    : []),
];

/** The rules that are evaluated, as peers of Prometheus ask for them. */
export class ShownRules implements AlertingRules {
  readonly #evaluator: Evaluator;
  readonly #alerts: AlertSeries;

  constructor(evaluator: Evaluator, alerts: AlertSeries) {
    this.#evaluator = evaluator;
    this.#alerts = alerts;
  }

  rules(seen: SeenDevices): readonly AlertingRule[] {
    return [...this.#evaluator.rules].map((scheduled) => this.#shown(scheduled, seen));
  }

  #shown(
    { rule, plan, intervalMs, error, lastOk, evaluatedAt, ms }: ScheduledRule,
    seen: SeenDevices,
  ): AlertingRule {
    return {
      name: rule.name,
      group: rule.kind,
      query: queryOf(plan),
      intervalMs,
      forMs: Math.max(0, ...plan.legs.map(({ forMs }) => forMs)),
      labels: { ...rule.labels, severity: rule.severity, rule_key: rule.rule_key },
      annotations: rule.annotations,
      health: error !== undefined ? 'err' : lastOk === undefined ? 'unknown' : 'ok',
      // Errors of queries name series, of whichever device.
      ...(error !== undefined && seen === undefined && { lastError: error }),
      ...(evaluatedAt !== undefined && { evaluatedAt }),
      evaluationMs: ms,
      alerts: this.#alerts.activeOf(rule.id, seen),
    };
  }
}

const queryOf = ({ legs, join }: Plan): string =>
  legs.length === 1
    ? legs[0]!.query
    : legs.map(({ query }) => `(${query})`).join(join === 'all' ? ' and ' : ' or ');
