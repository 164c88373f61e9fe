import type { ActiveAlert, AlertingRule, AlertingRules } from 'svc/contracts/alert';
import type { QueryOptions } from 'svc/contracts/metricsdb';
import type { AskingOf, SeenBy, SeenDevices } from 'svc/query';
import { byteRoute, type Handle, type RouteDeclaration, timestamp } from 'svc/sdk';

import type { Driver } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { common, pairsOf } from './prometheus-routes.ts';
import {
  AlertsAnswer,
  RulesAnswer,
  RulesQuery,
  TargetsAnswer,
  TargetsQuery,
} from './prometheus-shapes.ts';

export interface AlertingParts {
  readonly alerting: Handle<AlertingRules>;
  readonly driver: () => Driver;
  readonly asking: AskingOf;
  readonly seenBy: SeenBy;
  readonly now: () => number;
}

/** Prometheus endpoints for rules, alerts and targets. */
export const alertingRoutes = ({
  alerting,
  driver,
  asking,
  seenBy,
  now,
}: AlertingParts): readonly RouteDeclaration[] => [
  byteRoute({
    ...common,
    method: 'GET',
    path: '/prometheus/api/v1/rules',
    devices: 'narrowed',
    reads: ['metricsdb', 'alert'],
    summary: 'Prometheus API: alert rules and their state',
    query: RulesQuery,
    response: RulesAnswer,
    handle: async ({ query, principal }) =>
      success({
        groups: groupsOf(wanted(rulesOf(alerting, await seenBy(principal)), filterOf(query))),
      }),
  }),
  byteRoute({
    ...common,
    method: 'GET',
    path: '/prometheus/api/v1/alerts',
    devices: 'narrowed',
    reads: ['metricsdb', 'alert'],
    summary: 'Prometheus API: pending and firing alerts',
    response: AlertsAnswer,
    handle: async ({ principal }) =>
      success({
        alerts: rulesOf(alerting, await seenBy(principal)).flatMap(({ alerts }) =>
          alerts.map(shownAlert),
        ),
      }),
  }),
  byteRoute({
    ...common,
    method: 'GET',
    path: '/prometheus/api/v1/targets',
    devices: 'narrowed',
    summary: 'Prometheus API: scrape targets, derived from the up series',
    query: TargetsQuery,
    response: TargetsAnswer,
    async handle({ query, principal, signal }) {
      const state = pairsOf(query).find(([name]) => name === 'state')?.[1] ?? 'any';
      const activeTargets =
        state === 'dropped'
          ? []
          : await targetsOf(driver(), now(), { signal, ...(await asking(principal)) });
      return success({ activeTargets, droppedTargets: [], droppedTargetCounts: {} });
    },
  }),
];

const success = (data: object): string => JSON.stringify({ status: 'success', data });

function rulesOf(alerting: Handle<AlertingRules>, seen: SeenDevices): readonly AlertingRule[] {
  if (!alerting.available) {
    throw errors.no_alert_rules();
  }
  return alerting.get().rules(seen);
}

interface Filter {
  readonly isAlerting: boolean;
  readonly withAlerts: boolean;
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

function filterOf(query: object): Filter {
  const pairs = pairsOf(query);
  const all = (name: string): readonly string[] =>
    pairs.flatMap(([key, value]) => (key === name || key === `${name}[]` ? [value] : []));
  const [type = ''] = all('type').map((text) => text.toLowerCase());
  if (!['', 'alert', 'record'].includes(type)) {
    throw errors.rule_type({ type: JSON.stringify(type.slice(0, 100)) });
  }
  const withAlerts = !['true', '1', 't'].includes(all('exclude_alerts')[0]?.toLowerCase() ?? '');
  return {
    isAlerting: type !== 'record',
    withAlerts,
    names: all('rule_name'),
    groups: all('rule_group'),
  };
}

const wanted = (
  rules: readonly AlertingRule[],
  { isAlerting, withAlerts, names, groups }: Filter,
): readonly AlertingRule[] =>
  rules
    .filter(
      ({ name, group }) =>
        isAlerting &&
        (names.length === 0 || names.includes(name)) &&
        (groups.length === 0 || groups.includes(group)),
    )
    .map((rule) => (withAlerts ? rule : { ...rule, alerts: [] }));

/** Groups rules by kind and interval; there are no recording rules here. */
function groupsOf(rules: readonly AlertingRule[]): readonly object[] {
  const groups = new Map<string, AlertingRule[]>();
  for (const rule of rules) {
    const key = `${rule.group} ${rule.intervalMs}`;
    groups.set(key, [...(groups.get(key) ?? []), rule]);
  }
  return [...groups.values()].map((members) => ({
    name: members[0]!.group,
    file: 'svc',
    rules: members.map(shownRule),
    interval: members[0]!.intervalMs / 1_000,
    limit: 0,
    ...evaluation(
      Math.max(...members.map(({ evaluatedAt = 0 }) => evaluatedAt)),
      members.reduce((sum, { evaluationMs }) => sum + evaluationMs, 0),
    ),
  }));
}

const shownRule = (rule: AlertingRule): object => ({
  state: rule.alerts.some(({ state }) => state === 'firing')
    ? 'firing'
    : rule.alerts.length > 0
      ? 'pending'
      : 'inactive',
  name: rule.name,
  query: rule.query,
  duration: rule.forMs / 1_000,
  keepFiringFor: 0,
  labels: rule.labels,
  annotations: rule.annotations,
  alerts: rule.alerts.map(shownAlert),
  health: rule.health,
  ...(rule.lastError !== undefined && { lastError: rule.lastError }),
  ...evaluation(rule.evaluatedAt ?? 0, rule.evaluationMs),
  type: 'alerting',
});

/** Formats an evaluation; a rule that was never evaluated has Go's zero time. */
const evaluation = (at: number, ms: number): object => ({
  evaluationTime: ms / 1_000,
  lastEvaluation: at === 0 ? '0001-01-01T00:00:00Z' : timestamp(at),
});

const shownAlert = ({ labels, annotations, state, activeAt, value }: ActiveAlert): object => ({
  labels,
  annotations,
  state,
  activeAt: timestamp(activeAt),
  value: value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2'),
});

/** Agents scrape, not this store: what it knows of a target is its series `up`. */
async function targetsOf(
  driver: Driver,
  now: number,
  options: QueryOptions,
): Promise<readonly object[]> {
  const found = await driver.instant('up', now, options);
  return found.type !== 'vector'
    ? []
    : found.labels.map(({ __name__: _name, ...labels }, at) => ({
        discoveredLabels: {},
        labels,
        scrapePool: labels['job'] ?? '',
        scrapeUrl: '',
        globalUrl: '',
        lastError: '',
        lastScrape: timestamp(found.times[at]!),
        lastScrapeDuration: 0,
        health: found.values[at] === 1 ? 'up' : 'down',
        scrapeInterval: '',
        scrapeTimeout: '',
      }));
}
