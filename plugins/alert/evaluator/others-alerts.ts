import type { AlertSource, OthersAlerts, ToldAlert } from 'svc/contracts/alert';
import type { Clock, Logger } from 'svc/sdk';

import type { GateInputs } from '../incident/gates/review.ts';
import type { Incident } from '../incident/ledger/incident.ts';
import type { Ledger } from '../incident/ledger/ledger.ts';
import type { ResolveReason } from '../incident/ledger/transitions.ts';
import type { Instance, Row } from '../instance/instance.ts';
import { labelKey } from '../rule/label-key.ts';
import { isOfSource, type Plan, type Rule, ruleIdOfSource, sourceOfRuleId } from '../rule/rule.ts';
import type { NameOfDevice } from '../template/rendering.ts';
import { type Finding, Findings } from './findings.ts';
import { unwritten } from './own-rules.ts';
import { closeAll } from './rule-changes.ts';
import type { Timeline } from './timeline.ts';

export interface OthersAlertParts {
  readonly ledger: Ledger;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gateInputs: () => GateInputs;
  readonly nameOf: NameOfDevice;
}

/**
 * Plan of alerts that other systems raise: fires as soon as reported and ends as soon as the end is
 * reported.
 */
const plan: Plan = { join: 'any', legs: [{ store: 'metrics', query: '', forMs: 0 }], keepMs: 0 };

/** Alerts from which on a transaction takes no further incident. */
const maxAtOnce = 200;

/** An alert with the rule that stands for its source, and the instance that it is. */
interface Placed {
  readonly alert: ToldAlert;
  readonly rule: Rule;
  readonly row: Row;
}

/**
 * Times of an instance since this start: its last report by the monotonic clock, and its beginning
 * by the clock of its system.
 */
interface Heard {
  readonly at: number;
  readonly startsAt: number;
}

/** Alerts that another system raises: through the same instances, gates and notices as those of rules, without an evaluation. */
export class OthersAlertService implements OthersAlerts {
  readonly #parts: OthersAlertParts;
  /** Annotations of instances, known as long as their alerts are reported. */
  readonly #annotations = new Map<string, ToldAlert['annotations']>();
  /** Last reports, by source and instance key. */
  readonly #heard = new Map<number, Map<string, Heard>>();
  readonly #startedAt: number;
  readonly #findings: Findings;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: OthersAlertParts) {
    const { ledger, timeline, log, gateInputs } = parts;
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
    this.#findings = new Findings({
      ledger,
      log,
      gateInputs,
      isCurrent: () => true,
      now: () => timeline.look(),
      // They stand in the store of their own system.
      alerts: { update: () => Promise.resolve(), hasSeries: () => false },
      nameOf: parts.nameOf,
      render: (rule, { labels }) =>
        this.#annotations.get(`${rule.rule_key}|${labelKey(labels)}`) ?? {},
    });
  }

  take(source: AlertSource, alerts: readonly ToldAlert[]): Promise<{ readonly left_out: number }> {
    return this.#inTurn(async () => {
      const placed = alerts.map((alert) => placedOf(source, alert));
      const firing = placed.filter(({ alert }) => alert.fires);
      const burns = new Set(firing.map(({ row }) => row.key));
      // Told as over and as firing in one breath: it fires, for another reason.
      const over = placed.filter(
        ({ alert, row }) =>
          !alert.fires && !burns.has(row.key) && !this.#isOfBefore(source, alert, row.key),
      );
      placed.forEach(({ alert, rule }) =>
        this.#annotations.set(`${rule.rule_key}|${labelKey(alert.labels)}`, alert.annotations),
      );
      try {
        const left_out = await this.#store([...firing, ...over], burns);
        over.forEach(({ row }) => this.#heard.get(source.id)?.delete(row.key));
        this.#hear(source, firing);
        return { left_out };
      } finally {
        this.#annotations.clear();
      }
    });
  }

  endUnheard(source: AlertSource, unheardMs: number): Promise<void> {
    const { ledger, clock } = this.#parts;
    return this.#inTurn(async () => {
      const now = clock.monotonic();
      const unheard = this.#instancesOf(source).filter(
        (instance) => now - this.#heardAt(source, instance, unheardMs) > unheardMs,
      );
      const placed = unheard.flatMap((instance) => {
        const incident = ledger.live.get(instance.group);
        return incident === undefined ? [] : [remembered(incident, instance)];
      });
      await this.#store(placed, new Set(), 'not_told');
      const lasting = new Set(this.#instancesOf(source).map(({ key }) => key));
      this.#heard.set(
        source.id,
        new Map([...(this.#heard.get(source.id) ?? [])].filter(([key]) => lasting.has(key))),
      );
    });
  }

  #instancesOf({ id }: AlertSource): readonly Instance[] {
    return [...(this.#parts.ledger.instances.get(ruleIdOfSource(id))?.values() ?? [])];
  }

  #hear({ id }: AlertSource, firing: readonly Placed[]): void {
    const heard = this.#heard.get(id) ?? new Map<string, Heard>();
    const at = this.#parts.clock.monotonic();
    for (const { alert, row } of firing.filter(
      ({ row: { key } }) => this.#parts.ledger.instances.get(ruleIdOfSource(id))?.has(key) === true,
    )) {
      const before = heard.get(row.key)?.startsAt ?? -Infinity;
      heard.set(row.key, { at, startsAt: Math.max(alert.startsAt ?? -Infinity, before) });
    }
    this.#heard.set(id, heard);
  }

  /** A resolve that comes late: what it speaks of was over before what fires now began. */
  #isOfBefore({ id }: AlertSource, { startsAt, endsAt }: ToldAlert, key: string): boolean {
    const known = this.#heard.get(id)?.get(key)?.startsAt;
    // An end before its own beginning says that the clock of that system was set, and nothing else.
    return (
      known !== undefined &&
      endsAt !== undefined &&
      startsAt !== undefined &&
      startsAt <= endsAt &&
      endsAt < known
    );
  }

  /**
   * Returns when an instance was last reported. For reports to the previous process only the wall
   * time is known, which may have jumped: the silence until that process last worked counts, up to
   * half of the timeout. The other half remains for the source to report it again.
   */
  #heardAt({ id }: AlertSource, { key, reading }: Instance, unheardMs: number): number {
    const beat = this.#parts.ledger.heartbeat;
    const silentMs = beat === undefined ? 0 : beat.at + beat.drift - reading.seenAt;
    return (
      this.#heard.get(id)?.get(key)?.at ??
      this.#startedAt - Math.min(Math.max(silentMs, 0), unheardMs / 2)
    );
  }

  endAll(sourceId: number): Promise<void> {
    const { ledger, timeline } = this.#parts;
    return this.#inTurn(async () => {
      await ledger.transact((draft) =>
        closeAll(ruleIdOfSource(sourceId), 'source_removed', ledger, draft, timeline.look()),
      );
      this.#heard.delete(sourceId);
    });
  }

  sources(): readonly number[] {
    return [
      ...new Set(
        [...this.#parts.ledger.live.values()].map(({ rule_id: id }) => id).filter(isOfSource),
      ),
    ].map(sourceOfRuleId);
  }

  /**
   * Stores alerts, some incidents in each transaction, so that a large push holds up no other write.
   * Returns how many did not fit. If one is refused, those before it stay: the push is repeated, and
   * has no effect on them.
   */
  async #store(
    placed: readonly Placed[],
    burns: ReadonlySet<string>,
    ending?: ResolveReason,
  ): Promise<number> {
    let leftOut = 0;
    for (const some of incidentsOf(placed)) {
      leftOut += await this.#storeAtOnce(some, burns, ending);
    }
    return leftOut;
  }

  /** Stores each alert as one finding of its rule, all in one transaction. */
  async #storeAtOnce(
    placed: readonly Placed[],
    burns: ReadonlySet<string>,
    ending?: ResolveReason,
  ): Promise<number> {
    const { timeline } = this.#parts;
    const slot = timeline.look();
    let leftOut = 0;
    await Promise.all(
      Array.from(byRule(placed), (ofOne) => {
        const over = new Set(ofOne.map(({ row }) => row.key).filter((key) => !burns.has(key)));
        const finding: Finding = {
          rule: ofOne[0]!.rule,
          plan,
          slot,
          at: timeline.steady(slot),
          continuous: true,
          pausedMs: 0,
          stale: new Map(),
          ending,
          rows: [
            new Map(ofOne.filter(({ row }) => burns.has(row.key)).map(({ row }) => [row.key, row])),
          ],
          // What is not told of is not over.
          unknown: { has: (key) => !over.has(key) },
          leftOut: (count) => (leftOut += count),
        };
        return this.#findings.store(finding);
      }),
    );
    return leftOut;
  }

  /** A push is judged by what the one before it left. */
  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const own = this.#last.then(work);
    this.#last = own.catch(() => undefined);
    return own;
  }
}

/** Splits alerts between incidents, since those of one incident are told of together. */
function* incidentsOf(placed: readonly Placed[]): Generator<readonly Placed[]> {
  let some: Placed[] = [];
  for (const ofOne of groupedBy(placed, ({ row }) => row.group)) {
    some.push(...ofOne);
    if (some.length >= maxAtOnce) {
      yield some;
      some = [];
    }
  }
  if (some.length > 0) {
    yield some;
  }
}

const byRule = (placed: readonly Placed[]): Iterable<readonly Placed[]> =>
  groupedBy(placed, ({ rule }) => `${rule.rule_key} ${rule.severity} ${rule.scope_type}`);

function groupedBy(
  placed: readonly Placed[],
  keyOf: (one: Placed) => string,
): Iterable<readonly Placed[]> {
  const found = new Map<string, Placed[]>();
  for (const one of placed) {
    const key = keyOf(one);
    const group = found.get(key);
    if (group === undefined) {
      found.set(key, [one]);
    } else {
      group.push(one);
    }
  }
  return found.values();
}

function placedOf(source: AlertSource, alert: ToldAlert): Placed {
  const { labels, severity, name, runbook_url } = alert;
  const device = labels['device_id'] || null;
  const rule_key = `${source.key}/${name}`;
  const [scope_type, scopeId] =
    device === null ? (['global', 'global'] as const) : (['host', device] as const);
  const parts = source.dimensions.map((dimension) => `:${dimension}=${labels[dimension] ?? ''}`);
  const group = `${rule_key}:${severity}:${scope_type}:${scopeId}${parts.join('')}`;
  const rule: Rule = {
    ...unwritten,
    id: ruleIdOfSource(source.id),
    rule_key,
    name,
    severity,
    scope_type,
    runbook_url,
    created_by: source.key,
  };
  return {
    alert,
    rule,
    row: {
      key: `${group}|${labelKey(labels)}`,
      group,
      scopeId,
      deviceId: device,
      labels,
      series: labels,
      value: NaN,
    },
  };
}

/** Returns what an incident and its instance still hold of the report. */
function remembered(
  incident: Incident,
  { key, group, scopeId, deviceId, labels }: Instance,
): Placed {
  const {
    rule_id: id,
    rule_key,
    rule_name: name,
    severity,
    scope_type,
    annotations,
    runbook_url,
  } = incident;
  const alert: ToldAlert = { name, severity, labels, annotations, runbook_url, fires: false };
  const rule: Rule = { ...unwritten, id, rule_key, name, severity, scope_type, runbook_url };
  return {
    alert,
    rule,
    row: { key, group, scopeId, deviceId, labels, series: labels, value: NaN },
  };
}
