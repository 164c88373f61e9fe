import { timestamp } from 'svc/sdk';

import { countFire, type Dampening } from '../gates/gates.ts';
import { review, type Surroundings } from '../gates/review.ts';
import type { Draft } from '../incident/draft.ts';
import { evaluator, type Incident, isActive, isUntold } from '../incident/incident.ts';
import type { Ledger } from '../incident/ledger.ts';
import { fire, type Firing, resolve, type ResolveReason } from '../incident/transitions.ts';
import { deviceOfflineRule, type Plan, type RenderAnnotations, type Rule } from '../rule.ts';
import type { AlertSeries } from './alert-series.ts';
import { advance, type Instance, type Move, type Row } from './instance.ts';

/** What one evaluation of one rule has found. */
export interface Finding {
  readonly rule: Rule;
  readonly plan: Plan;
  /** Wall time of the slot, and the same as steady time. */
  readonly slot: number;
  readonly at: number;
  readonly continuous: boolean;
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Told whether keys had to be left out. */
  readonly crowded: (is: boolean) => void;
}

export interface SettleParts {
  readonly ledger: Ledger;
  readonly alerts: AlertSeries;
  readonly render: RenderAnnotations;
  readonly now: () => number;
  readonly surroundings: () => Surroundings;
}

/** Instances of one rule; no further key is taken up beyond. */
export const mostInstances = 500;
/** Keys for which some, not all, of the conditions of a rule hold. */
const mostPartial = 10_000;

/** Whether there is nothing to settle: nothing breaches, and nothing did. */
export const isQuiet = ({ rule, rows }: Finding, { ledger, alerts }: Pick<SettleParts, 'ledger' | 'alerts'>): boolean =>
  rows.every((found) => found.size === 0) && !ledger.instances.has(rule.id) && !alerts.knows(rule.id);

/** Brings what evaluations have found into instances, incidents and notices: one turn of the ledger. */
export async function settle(findings: readonly Finding[], { ledger, alerts, render, now, surroundings }: SettleParts): Promise<void> {
  await ledger.turn(async (draft) => {
    const found = surroundings();
    const moves = findings.flatMap((finding) => movesOf(finding, draft, found.cooldownMs).map((move) => ({ finding, move })));
    const fired = moves.filter(({ move }) => move.did === 'fire').sort((a, b) => rankOf(a.finding.rule) - rankOf(b.finding.rule));
    draft.know(await ledger.resolved(fired.map(({ move }) => move.key)));
    for (const { finding, move } of moves) {
      place(finding.rule, move, draft);
      if (move.did === 'clear') {
        close(draft, draft.incident(move.key), 'cleared', now());
      }
    }
    for (const { finding, move } of fired) {
      const known = draft.incident(move.key);
      if (known === undefined || !isActive(known)) {
        draft.take(fire(known, firingOf(finding, move.key, render), now()));
      }
    }
    for (const { move } of moves) {
      const dampening = move.did === 'fire' || move.did === 'last' ? dampeningFor(draft.incident(move.key), found) : undefined;
      if (dampening !== undefined) {
        const incident = draft.incident(move.key)!;
        draft.put({ ...incident, fires: countFire(incident.fires, found.steady, dampening) });
      }
    }
    review(draft, draft.touched, found);
  });
  findings.forEach((finding) => alerts.tell(finding));
}

/** Ends an incident, and tells those who were told of its firing. */
export function close(draft: Draft, incident: Incident | undefined, reason: ResolveReason, now: number): void {
  const told = incident !== undefined && !isUntold(incident);
  const over = incident && draft.take(resolve(incident, evaluator, reason, undefined, now));
  if (over !== undefined && told) {
    draft.tell('resolved', over);
  }
}

/** The worst first, so that what they inhibit finds them. */
const rankOf = ({ rule_key: key, severity }: Rule): number => (key === deviceOfflineRule ? 0 : { critical: 1, warning: 2, info: 3 }[severity]);

function movesOf(finding: Finding, draft: Draft, holdMs: number): readonly Move[] {
  const { rule, plan, at, continuous, rows } = finding;
  const known = draft.instancesOf(rule.id);
  const evaluation = { plan, at, continuous, rows, holdMs };
  const moves = [...known].map(([key, instance]) => advance(key, instance, evaluation));
  let full = moves.filter(({ next }) => next !== undefined && next.phase !== 'partial').length;
  let partial = moves.length - full;
  let leftOut = 0;
  const fresh = new Set(rows.flatMap((found) => [...found.keys()]).filter((key) => !known.has(key)));
  for (const key of [...fresh].sort()) {
    const move = advance(key, undefined, evaluation);
    if (move.next === undefined) {
      continue;
    }
    const isPartial = move.next.phase === 'partial';
    if (isPartial ? partial >= mostPartial : full >= mostInstances) {
      leftOut += 1;
      continue;
    }
    partial += isPartial ? 1 : 0;
    full += isPartial ? 0 : 1;
    moves.push(move);
  }
  finding.crowded(leftOut > 0);
  return moves;
}

function place(rule: Rule, { key, next }: Move, draft: Draft): void {
  const known: Instance | undefined = draft.instance(rule.id, key);
  if (next !== known) {
    draft.place(rule.id, key, next);
  }
}

/** While channels have yet to hear of it, every evaluation that finds it firing counts. */
function dampeningFor(incident: Incident | undefined, { dampening }: Surroundings): Dampening | undefined {
  return incident !== undefined && isActive(incident) && isUntold(incident) ? dampening(incident) : undefined;
}

function firingOf({ rule, plan, slot, rows }: Finding, key: string, render: RenderAnnotations): Firing {
  const leg = rows.findIndex((found) => found.has(key));
  const row = rows[leg]!.get(key)!;
  const value = Number.isFinite(row.value) ? row.value : null;
  const threshold = plan.legs[leg]!.threshold ?? null;
  const { __name__: _name, ...own } = row.labels;
  const labels = { ...own, ...rule.labels };
  const annotations = render(rule, {
    rule_key: rule.rule_key,
    rule_name: rule.name,
    severity: rule.severity,
    scope_type: rule.scope_type,
    scope_id: row.scopeId,
    ...(row.deviceId !== null && { device_id: row.deviceId }),
    labels,
    ...(value !== null && { value }),
    ...(threshold !== null && { threshold }),
    ...(row.eta !== undefined && { eta: row.eta }),
    fired_at: timestamp(slot),
  });
  return { rule, dedupe_key: key, scope_id: row.scopeId, device_id: row.deviceId, labels, annotations, value, threshold, eta: row.eta ?? null, at: slot };
}
