import { timestamp } from 'svc/sdk';

import { review, type GateInputs } from '../incident/gates/review.ts';
import type { Draft } from '../incident/ledger/draft.ts';
import { type Incident, isUnnotified } from '../incident/ledger/incident.ts';
import type { Ledger } from '../incident/ledger/ledger.ts';
import { raise } from '../incident/ledger/raise.ts';
import { ofRule, type ResolveReason } from '../incident/ledger/transitions.ts';
import type { Instance } from '../instance/instance.ts';
import { isOfSource, type LiveRules, type Plan, type Rule, type RuleChange } from '../rule/rule.ts';
import { hasComputedSeverity, isWorseSeverity } from '../rule/severity.ts';
import { close } from './findings.ts';
import { ownRuleOf } from './own-rules.ts';

export interface ChangeParts {
  readonly ledger: Ledger;
  readonly planOf: (rule: Rule) => Plan;
  readonly now: () => number;
  readonly gateInputs: () => GateInputs;
}

/** Brings a change of a rule to the incidents that it has raised. */
export function applyRuleChange(change: RuleChange, parts: ChangeParts): Promise<void> {
  const { ledger, now } = parts;
  return ledger.transact((draft) => {
    const ended = reasonToClose(change);
    if (ended !== undefined) {
      closeAll(change.rule.id, ended, ledger, draft, now());
    } else if (change.kind === 'updated') {
      applyEdit(change, draft, parts);
    }
  });
}

/** Why no incident of the rule outlives the change; undefined: they do. */
function reasonToClose({ kind, rule, before }: RuleChange): ResolveReason | undefined {
  switch (kind) {
    case 'deleted':
      return 'rule_deleted';
    case 'disabled':
      return 'rule_disabled';
    case 'updated':
      if (!rule.enabled) {
        return 'rule_disabled';
      }
      return before !== undefined && keysOf(before) !== keysOf(rule) ? 'rule_changed' : undefined;
    case 'created':
    case 'enabled':
      return undefined;
  }
}

function applyEdit(
  { rule, before }: Pick<RuleChange, 'rule' | 'before'>,
  draft: Draft,
  parts: ChangeParts,
): void {
  if (before !== undefined && JSON.stringify(before.labels) !== JSON.stringify(rule.labels)) {
    relabel(before, rule, draft, parts);
  }
  restate(rule, draft, parts);
  const { planOf, gateInputs } = parts;
  if (before !== undefined && JSON.stringify(planOf(before)) !== JSON.stringify(planOf(rule))) {
    beginAnew(rule, draft, parts);
  }
  review(draft, draft.changedKeys, gateInputs());
}

/**
 * Renames labels: instances that fire under plain labels of the rule continue under the new ones.
 */
function relabel(before: Rule, rule: Rule, draft: Draft, { ledger, now }: ChangeParts): void {
  for (const [key, instance] of ledger.instances.get(rule.id) ?? []) {
    const kept = Object.entries(instance.labels).filter(
      ([name, value]) => before.labels[name] !== value,
    );
    const given = Object.entries(rule.labels).filter(
      ([, value]) => value !== '' && !value.includes('{{'),
    );
    const labels = Object.fromEntries([...kept, ...given]);
    draft.setInstance(rule.id, key, { ...instance, labels });
    const incident = draft.incident(instance.group);
    if (incident?.lead === key) {
      draft.setIncident({ ...incident, labels, updated_at: now() });
    }
  }
}

/** Incidents say of their rule what it says now. */
function restate(rule: Rule, draft: Draft, { ledger, now }: ChangeParts): void {
  for (const { dedupe_key: group } of ledger.live.values()) {
    const incident = draft.incident(group)!;
    const severity = hasComputedSeverity(rule) ? incident.severity : rule.severity;
    const stated = { ...ofRule(rule), severity };
    if (incident.rule_id === rule.id && JSON.stringify(stated) !== JSON.stringify(pick(incident))) {
      draft.setIncident({ ...incident, ...stated, updated_at: now() });
      if (isRaised(incident, stated) || isWidened(incident, rule)) {
        raise(incident.dedupe_key, draft);
      }
    }
  }
}

/**
 * Handles a changed condition: marks the open incidents of the rule and restarts pending instances.
 */
function beginAnew(rule: Rule, draft: Draft, { ledger, now, gateInputs }: ChangeParts): void {
  const { steady } = gateInputs();
  for (const { dedupe_key: group, rule_id: of } of ledger.live.values()) {
    if (of === rule.id) {
      const incident = draft.incident(group)!;
      draft.setIncident({
        ...incident,
        marks: { ...incident.marks, rule: { ref: timestamp(now()), at: steady } },
      });
    }
  }
  for (const [key, { phase }] of ledger.instances.get(rule.id) ?? []) {
    if (phase === 'pending' || phase === 'partial') {
      draft.setInstance(rule.id, key, undefined);
    }
  }
}

const isRaised = (
  { severity: from }: Incident,
  { severity: to }: Pick<Rule, 'severity'>,
): boolean => isWorseSeverity(to, from);

/** Returns whether a channel is now pinned that was not before; no pins mean all channels. */
const isWidened = ({ pins: from }: Incident, { notify_channel_ids: to }: Rule): boolean =>
  from.length > 0 && (to.length === 0 || to.some((channel) => !from.includes(channel)));

/**
 * Reconciles after a start: rules may have changed meanwhile, and an incident whose rule is gone
 * must not stay open.
 */
export function reconcile(liveRules: LiveRules, { ledger, now }: ChangeParts): Promise<void> {
  return ledger.transact((draft) => {
    const at = now();
    for (const incident of ledger.live.values()) {
      const rule = ownRuleOf({ id: incident.rule_id })?.rule ?? liveRules.get(incident.rule_id);
      if (!isOfSource(incident.rule_id) && rule?.enabled !== true) {
        close(draft, incident, rule === undefined ? 'rule_deleted' : 'rule_disabled', at);
      } else if (ledger.instancesOf(incident.dedupe_key).size === 0) {
        draft.setInstance(incident.rule_id, incident.lead, instanceOf(incident, at));
      }
    }
    for (const [ruleId, instances] of ledger.instances) {
      if (
        !isOfSource(ruleId) &&
        ownRuleOf({ id: ruleId }) === undefined &&
        liveRules.get(ruleId)?.enabled !== true
      ) {
        [...instances.keys()].forEach((key) => draft.setInstance(ruleId, key, undefined));
      }
    }
  });
}

export function closeAll(
  ruleId: number,
  reason: ResolveReason,
  ledger: Ledger,
  draft: Draft,
  now: number,
): void {
  for (const incident of ledger.live.values()) {
    if (incident.rule_id === ruleId) {
      close(draft, incident, reason, now);
    }
  }
  for (const key of ledger.instances.get(ruleId)?.keys() ?? []) {
    draft.setInstance(ruleId, key, undefined);
  }
}

/** An incident without instances could never end: what stands for it is taken to fire until it is found clear. */
const instanceOf = (incident: Incident, at: number): Instance => ({
  key: incident.lead,
  group: incident.dedupe_key,
  scopeId: incident.scope_id,
  deviceId: incident.device_id,
  labels: incident.labels,
  phase: 'firing',
  legs: [],
  since: at,
  startedAt: incident.last_fired_at,
  clearedAt: null,
  notified: !isUnnotified(incident),
  reading: { value: incident.value, worst: incident.value, seenAt: incident.updated_at },
});

/** Returns the fields of a rule that its dedupe keys are made of. */
const keysOf = ({ rule_key: key, scope_type: scope, dimensions }: Rule): string =>
  JSON.stringify([key, scope, dimensions]);

const pick = ({
  rule_id,
  rule_key,
  rule_name,
  severity,
  runbook_url,
  pins,
}: ReturnType<typeof ofRule>): ReturnType<typeof ofRule> => ({
  rule_id,
  rule_key,
  rule_name,
  severity,
  runbook_url,
  pins,
});
