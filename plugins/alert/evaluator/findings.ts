import { inTurns } from 'svc/flow';
import { isSvcError, type Logger, messageOf, timestamp } from 'svc/sdk';

import { countFire } from '../incident/gates/gates.ts';
import { type GateInputs, isMuted, review } from '../incident/gates/review.ts';
import type { Draft } from '../incident/ledger/draft.ts';
import { evaluator, type Incident, isActive, isUnnotified } from '../incident/ledger/incident.ts';
import type { Ledger } from '../incident/ledger/ledger.ts';
import { countFiring, leadOf } from '../incident/ledger/members.ts';
import { raise } from '../incident/ledger/raise.ts';
import {
  change,
  endingOf,
  fire,
  type Firing,
  resolve,
  type ResolveReason,
} from '../incident/ledger/transitions.ts';
import type { Instance, Row } from '../instance/instance.ts';
import { movesInTurns } from '../instance/moves.ts';
import type { Stale } from '../instance/stale-instances.ts';
import { deviceOfflineRule, type Plan, type Rule } from '../rule/rule.ts';
import { isWorseSeverity, severityOf } from '../rule/severity.ts';
import type { TemplateQuery } from '../template/functions.ts';
import type { NameOfDevice, RenderAnnotations, Snapshot } from '../template/rendering.ts';
import type { AlertSeries } from './alert-series.ts';

/** Result of one evaluation of one rule. */
export interface Finding {
  readonly rule: Rule;
  readonly plan: Plan;
  /** Wall time of the slot, and the same as steady time. */
  readonly slot: number;
  readonly at: number;
  readonly continuous: boolean;
  readonly pausedMs: number;
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Instances with unknown state; they stay as they are. */
  readonly unknown: Pick<ReadonlySet<string>, 'has'>;
  /** Instances whose source is silent. */
  readonly stale: Stale;
  /** Query function for annotations. */
  readonly query?: TemplateQuery | undefined;
  /**
   * Reason why incidents without remaining instances end; by default their condition cleared, or
   * was absent.
   */
  readonly ending?: ResolveReason | undefined;
  /** Called with the number of label sets that had to be left out. */
  readonly leftOut: (count: number) => void;
}

export interface FindingsParts {
  readonly ledger: Ledger;
  readonly alerts: Pick<AlertSeries, 'update' | 'hasSeries'>;
  readonly render: RenderAnnotations;
  readonly nameOf: NameOfDevice;
  readonly now: () => number;
  readonly gateInputs: () => GateInputs;
  /** Returns whether the rule is still the one that was evaluated. */
  readonly isCurrent: (rule: Rule) => boolean;
  readonly log: Logger;
}

/** Max findings stored in one transaction of the ledger. */
const maxInTransaction = 100;
const maxSteps = 50;

interface Waiting {
  readonly finding: Finding;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** Queue of evaluation results on their way into instances, incidents and notices. */
export class Findings {
  readonly #parts: FindingsParts;
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;

  constructor(parts: FindingsParts) {
    this.#parts = parts;
  }

  /** Returns whether there is nothing to store: nothing breaches, and nothing did before. */
  isQuiet({ rule, rows }: Finding): boolean {
    const { ledger, alerts } = this.#parts;
    return (
      rows.every((found) => found.size === 0) &&
      !ledger.instances.has(rule.id) &&
      !alerts.hasSeries(rule.id)
    );
  }

  /** Resolves once the finding is stored, rejects when it cannot be; those that come together are stored together. */
  store(finding: Finding): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ finding, done, fail });
      this.#storing ??= this.#storeAll();
    });
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    // Answers of one batch come in the same tick of the event loop, and take more steps to here where something has ceased to fire.
    for (let step = 0; step < maxSteps; step++) {
      await Promise.resolve();
    }
    while (this.#waiting.length > 0) {
      await this.#storeBatch(this.#waiting.splice(0, maxInTransaction));
    }
    // In the same step as the look for more: what comes later begins anew.
    this.#storing = undefined;
  }

  /**
   * Stores a batch in one transaction; if that fails, stores each finding separately, since a
   * single one may be the cause.
   */
  async #storeBatch(batch: readonly Waiting[]): Promise<void> {
    const { isCurrent, log } = this.#parts;
    try {
      await this.#apply(batch.map(({ finding }) => finding).filter(({ rule }) => isCurrent(rule)));
      batch.forEach(({ done }) => done());
    } catch (error) {
      if (batch.length > 1 && !(isSvcError(error) && error.code === 'unavailable')) {
        for (const one of batch) {
          await this.#storeBatch([one]);
        }
        return;
      }
      log.warn(
        {
          event: 'alert.findings_not_stored',
          cause: messageOf(error),
          rules: batch.map(({ finding }) => finding.rule.rule_key).slice(0, 5),
        },
        'failed to store rule results; re-evaluating at the next interval',
      );
      batch.forEach(({ fail }) => fail(error));
    }
  }

  /** One transaction of the ledger. */
  async #apply(findings: readonly Finding[]): Promise<void> {
    const { ledger, alerts, gateInputs } = this.#parts;
    await ledger.transact(async (draft) => {
      const inputs = gateInputs();
      const turns: Turn[] = [];
      for (const finding of findings) {
        (await turnsOf(finding, draft, inputs.cooldownMs)).forEach((turn) => turns.push(turn));
      }
      draft.addResolved(
        await ledger.resolvedWith(
          turns.filter(({ joined }) => joined.length > 0).map(({ group }) => group),
        ),
      );
      await inTurns(
        turns.filter(({ joined }) => joined.length === 0),
        (turn) => this.#shrink(turn, draft, inputs),
      );
      // The worst first, so that what they inhibit finds them.
      await inTurns(
        turns
          .filter(({ joined }) => joined.length > 0)
          .sort((a, b) => rankOf(a.finding.rule) - rankOf(b.finding.rule)),
        (turn) => this.#grow(turn, draft, inputs),
      );
      await inTurns(draft.changedKeys, (key) => review(draft, [key], inputs));
    });
    for (const finding of findings) {
      await alerts.update(finding);
    }
  }

  #grow(turn: Turn, draft: Draft, inputs: GateInputs): void {
    const { finding, group, joined, left } = turn;
    const known = draft.incident(group);
    const lead = leadIn(turn, draft, inputs) ?? joined[0]!;
    const firing = firingOf(finding, lead, draft, this.#parts);
    const now = this.#parts.now();
    const lasts = known !== undefined && isActive(known);
    draft.apply(
      lasts
        ? change(known, firing, { joined, left, firing: countFiring(draft.members(group)) }, now)
        : fire(known, firing, now),
    );
    const incident = draft.incident(group)!;
    if (lasts && isWorseSeverity(incident.severity, known.severity)) {
      raise(group, draft);
    }
    const dampening = inputs.dampening(incident);
    // To dampening whoever joins counts as well, until channels are notified.
    if (!lasts || (dampening !== undefined && isUnnotified(incident))) {
      draft.setIncident({
        ...draft.incident(group)!,
        fires: countFire(incident.fires, inputs.steady, dampening),
      });
    }
  }

  #shrink(turn: Turn, draft: Draft, inputs: GateInputs): void {
    const { finding, group, left } = turn;
    const known = draft.incident(group);
    if (known === undefined || !isActive(known)) {
      return;
    }
    const lead = leadIn(turn, draft, inputs);
    const now = this.#parts.now();
    if (lead === undefined) {
      close(draft, known, finding.ending ?? endOf(known, turn), now);
    } else {
      draft.apply(
        change(
          known,
          firingOf(finding, lead, draft, this.#parts),
          { joined: [], left, firing: countFiring(draft.members(group)) },
          now,
        ),
      );
    }
  }
}

/** Which instances of one incident have begun to fire, and which have ceased to, by one evaluation. */
interface Turn {
  readonly finding: Finding;
  readonly group: string;
  readonly joined: Instance[];
  readonly left: Instance[];
}

/** Brings the moves of one evaluation to the instances, and answers what they mean to incidents. */
async function turnsOf(finding: Finding, draft: Draft, holdMs: number): Promise<readonly Turn[]> {
  const { rule } = finding;
  const { moves, leftOut } = await movesInTurns(draft.instancesOf(rule.id), { ...finding, holdMs });
  finding.leftOut(leftOut);
  const turns = new Map<string, Turn>();
  await inTurns(moves, ({ key, known, next, did }) => {
    if (did === 'fire') {
      draft.join(rule.id, next!);
    } else if (next === undefined && (known?.phase === 'firing' || known?.phase === 'held')) {
      draft.leave(rule.id, known, finding.slot);
    } else if (next !== known) {
      draft.setInstance(rule.id, key, next);
    }
    if (did !== undefined) {
      const instance = (next ?? known)!;
      const turn = turns.get(instance.group) ?? {
        finding,
        group: instance.group,
        joined: [],
        left: [],
      };
      turns.set(instance.group, turn);
      (did === 'fire' ? turn.joined : turn.left).push(instance);
    }
  });
  return [...turns.values()];
}

function leadIn(
  { finding: { rule, plan }, group }: Turn,
  draft: Draft,
  inputs: GateInputs,
): Instance | undefined {
  const threshold = plan.legs.find((leg) => leg.threshold !== undefined)?.threshold;
  return leadOf(draft.members(group), (member) => isMuted(member, rule, inputs), threshold);
}

/**
 * Returns why an incident ends. It counts as cleared only if it met the condition that the rule
 * still has, and then stopped meeting it.
 */
function endOf(
  { marks, last_fired_at: firedAt }: Incident,
  { finding, left }: Turn,
): ResolveReason {
  const edited = Date.parse(marks.rule?.ref ?? '');
  return left.some(({ key }) => finding.stale.has(key))
    ? 'not_heard'
    : edited >= firedAt && left.every(({ reading }) => reading.seenAt < edited)
      ? 'rule_edited'
      : 'cleared';
}

/** Ends an incident, and notifies the channels that were sent its firing. */
export function close(
  draft: Draft,
  incident: Incident | undefined,
  reason: ResolveReason,
  now: number,
): void {
  const notified = incident !== undefined && !isUnnotified(incident);
  const over = incident && draft.apply(resolve(incident, evaluator, reason, undefined, now));
  if (over !== undefined && notified) {
    draft.addNotice('resolved', over, { because: endingOf(reason, evaluator) });
  }
}

const rankOf = ({ rule_key: key, severity }: Rule): number =>
  key === deviceOfflineRule ? 0 : { critical: 1, warning: 2, info: 3 }[severity];

function firingOf(
  finding: Finding,
  lead: Instance,
  draft: Draft,
  { render, nameOf }: Pick<FindingsParts, 'render' | 'nameOf'>,
): Firing {
  const { rule, plan, slot, rows, query } = finding;
  const leg = Math.max(
    0,
    rows.findIndex((found) => found.has(lead.key)),
  );
  const row = rows[leg]?.get(lead.key);
  const { threshold = null, floors } = plan.legs[leg]!;
  const annotations = render(
    rule,
    snapshotOf(rule, { ...lead, value: lead.reading.value, threshold, eta: row?.eta, slot }),
    query,
  );
  return {
    rule,
    lead,
    device: lead.deviceId === null ? undefined : nameOf(lead.deviceId),
    severity: severityOf(rule, draft.members(lead.group)),
    annotations,
    threshold,
    eta: row?.eta ?? null,
    needs: floors?.needs,
    at: slot,
  };
}

/** Returns the snapshot that annotations are rendered from. */
export function snapshotOf(
  rule: Rule,
  {
    scopeId,
    deviceId,
    labels,
    value,
    threshold,
    eta,
    slot,
  }: Pick<Row, 'scopeId' | 'deviceId' | 'labels'> & {
    readonly value: number | null;
    readonly threshold: number | null;
    readonly eta: number | undefined;
    readonly slot: number;
  },
): Snapshot {
  return {
    rule_key: rule.rule_key,
    rule_name: rule.name,
    severity: rule.severity,
    scope_type: rule.scope_type,
    scope_id: scopeId,
    ...(deviceId !== null && { device_id: deviceId }),
    labels,
    ...(value !== null && { value }),
    ...(threshold !== null && { threshold }),
    ...(eta !== undefined && { eta }),
    fired_at: timestamp(slot),
  };
}
