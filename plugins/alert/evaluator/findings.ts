import { type Logger, messageOf, timestamp } from 'svc/sdk';

import { countFire, type Dampening } from '../gates/gates.ts';
import { review, type GateInputs } from '../gates/review.ts';
import type { Draft } from '../incident/draft.ts';
import { evaluator, type Incident, isActive, isUnnotified } from '../incident/incident.ts';
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
  readonly pausedMs: number;
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Keys about which nothing is known, so that they stay as they are. */
  readonly unknown: ReadonlySet<string>;
  /** Keys that have not been seen since the start. */
  readonly stale: ReadonlySet<string>;
  /** Called with whether keys had to be left out. */
  readonly crowded: (is: boolean) => void;
}

export interface FindingsParts {
  readonly ledger: Ledger;
  readonly alerts: AlertSeries;
  readonly render: RenderAnnotations;
  readonly now: () => number;
  readonly gateInputs: () => GateInputs;
  /** Whether the rule is still evaluated as it was then. */
  readonly isCurrent: (rule: Rule) => boolean;
  readonly log: Logger;
}

/** Instances of one rule; no further key is taken up beyond. */
export const mostInstances = 500;
/** Keys for which some, not all, of the conditions of a rule hold. */
const mostPartial = 10_000;
/** What one transaction of the ledger takes on. */
const mostInTransaction = 100;

/** What evaluations have found, on its way into instances, incidents and notices. */
export class Findings {
  readonly #parts: FindingsParts;
  #waiting: { readonly finding: Finding; readonly done: () => void; readonly fail: (error: unknown) => void }[] = [];
  #storing: Promise<void> | undefined;

  constructor(parts: FindingsParts) {
    this.#parts = parts;
  }

  /** Whether there is nothing to store: nothing breaches, and nothing did. */
  isQuiet({ rule, rows }: Finding): boolean {
    const { ledger, alerts } = this.#parts;
    return rows.every((found) => found.size === 0) && !ledger.instances.has(rule.id) && !alerts.hasSeries(rule.id);
  }

  /** Resolves once the finding is stored, rejects when it cannot be; those that come together are stored together. */
  store(finding: Finding): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ finding, done, fail });
      this.#storing ??= this.#storeAll().finally(() => (this.#storing = undefined));
    });
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    const { isCurrent, log } = this.#parts;
    // Answers of one batch come in the same tick of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInTransaction);
      try {
        await this.#apply(batch.map(({ finding }) => finding).filter(({ rule }) => isCurrent(rule)));
        batch.forEach(({ done }) => done());
      } catch (error) {
        log.warn({ cause: messageOf(error), rules: batch.length }, 'could not store what alert rules found; found again at their next evaluation');
        batch.forEach(({ fail }) => fail(error));
      }
    }
  }

  /** One transaction of the ledger. */
  async #apply(findings: readonly Finding[]): Promise<void> {
    const { ledger, alerts, gateInputs } = this.#parts;
    await ledger.transact(async (draft) => {
      const inputs = gateInputs();
      const moves = findings.flatMap((finding) => movesOf(finding, draft, inputs.cooldownMs).map((move) => ({ finding, move })));
      const fired = moves.filter(({ move }) => move.did === 'fire').sort((a, b) => rankOf(a.finding.rule) - rankOf(b.finding.rule));
      draft.addResolved(await ledger.resolvedWith(fired.map(({ move }) => move.key)));
      this.#moveInstances(moves, draft);
      this.#fireIncidents(fired, draft);
      countFires(moves, draft, inputs);
      review(draft, draft.changedKeys, inputs);
    });
    findings.forEach((finding) => alerts.update(finding));
  }

  #moveInstances(moves: readonly FoundMove[], draft: Draft): void {
    for (const { finding, move } of moves) {
      setInstance(finding.rule, move, draft);
      if (move.did === 'clear') {
        close(draft, draft.incident(move.key), finding.stale.has(move.key) ? 'not_heard' : 'cleared', this.#parts.now());
      }
    }
  }

  #fireIncidents(fired: readonly FoundMove[], draft: Draft): void {
    for (const { finding, move } of fired) {
      const known = draft.incident(move.key);
      if (known === undefined || !isActive(known)) {
        draft.apply(fire(known, firingOf(finding, move.key, this.#parts.render), this.#parts.now()));
      }
    }
  }
}

interface FoundMove {
  readonly finding: Finding;
  readonly move: Move;
}

function countFires(moves: readonly FoundMove[], draft: Draft, inputs: GateInputs): void {
  for (const { move } of moves) {
    const dampening = move.did === 'fire' || move.did === 'last' ? dampeningFor(draft.incident(move.key), inputs) : undefined;
    if (dampening !== undefined) {
      const incident = draft.incident(move.key)!;
      draft.setIncident({ ...incident, fires: countFire(incident.fires, inputs.steady, dampening) });
    }
  }
}

/** Ends an incident, and notifies the channels that were sent its firing. */
export function close(draft: Draft, incident: Incident | undefined, reason: ResolveReason, now: number): void {
  const notified = incident !== undefined && !isUnnotified(incident);
  const over = incident && draft.apply(resolve(incident, evaluator, reason, undefined, now));
  if (over !== undefined && notified) {
    draft.addNotice('resolved', over);
  }
}

/** The worst first, so that what they inhibit finds them. */
const rankOf = ({ rule_key: key, severity }: Rule): number => (key === deviceOfflineRule ? 0 : { critical: 1, warning: 2, info: 3 }[severity]);

function movesOf(finding: Finding, draft: Draft, holdMs: number): readonly Move[] {
  const { rule, plan, at, continuous, pausedMs, rows, unknown } = finding;
  const known = draft.instancesOf(rule.id);
  const evaluation = { plan, at, continuous, pausedMs, rows, unknown, holdMs };
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

function setInstance(rule: Rule, { key, next }: Move, draft: Draft): void {
  const known: Instance | undefined = draft.instance(rule.id, key);
  if (next !== known) {
    draft.setInstance(rule.id, key, next);
  }
}

/** While it is not notified yet, every evaluation that finds it firing counts. */
function dampeningFor(incident: Incident | undefined, { dampening }: GateInputs): Dampening | undefined {
  return incident !== undefined && isActive(incident) && isUnnotified(incident) ? dampening(incident) : undefined;
}

function firingOf({ rule, plan, slot, rows }: Finding, key: string, render: RenderAnnotations): Firing {
  const leg = rows.findIndex((found) => found.has(key));
  const row = rows[leg]!.get(key)!;
  const value = Number.isFinite(row.value) ? row.value : null;
  const { threshold = null, floors } = plan.legs[leg]!;
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
  return {
    rule,
    dedupe_key: key,
    scope_id: row.scopeId,
    device_id: row.deviceId,
    labels,
    annotations,
    value,
    threshold,
    eta: row.eta ?? null,
    needs: floors?.needs,
    at: slot,
  };
}
