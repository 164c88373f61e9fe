import type { ActiveAlert } from 'svc/contracts/alert';
import type { LabelRecord, MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';
import { inTurns } from 'svc/flow';
import type { SeenDevices } from 'svc/query';
import { type Handle, type Logger, messageOf } from 'svc/sdk';

import type { Incident } from '../incident/ledger/incident.ts';
import { isSeen } from '../incident/ledger/seen-incidents.ts';
import { activeSince, type Instance } from '../instance/instance.ts';
import type { Within } from '../queries/back-end.ts';
import { labelKey } from '../rule/label-key.ts';
import type { Rule } from '../rule/rule.ts';

/** State of a rule's conditions after an evaluation. */
export interface Standing {
  readonly rule: Rule;
  /** Wall time of the slot, and the same as steady time. */
  readonly slot: number;
  readonly at: number;
}

export interface AlertSeriesParts {
  readonly store: Handle<Pick<MetricsIngest, 'write'>>;
  /** Committed state. */
  readonly ledger: {
    readonly instances: ReadonlyMap<number, ReadonlyMap<string, Instance>>;
    readonly live: ReadonlyMap<string, Pick<Incident, 'annotations' | 'asked' | 'scope_type'>>;
  };
  readonly within: Within;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly lost: (samples: number) => void;
}

interface Active {
  readonly alert: ActiveAlert;
  readonly of: Instance;
  /** Incident of the instance; it may span many devices. */
  readonly incident: Pick<Incident, 'asked' | 'scope_type'> | undefined;
}

/**
 * Cached labels and series of an instance, valid while its phase lasts: rebuilding them at every
 * write is most of the work.
 */
interface Named {
  readonly own: LabelRecord;
  readonly state: ActiveAlert['state'];
  readonly labels: LabelRecord;
  /** Labels keyed by series. */
  readonly series: readonly (readonly [key: string, labels: LabelRecord])[];
}

/** Active alerts of one rule, as last written. */
interface Written {
  readonly rule?: Rule;
  /** Cached names by instance key. */
  readonly named: ReadonlyMap<string, Named>;
  readonly series: ReadonlyMap<string, SampleRow>;
  readonly active: readonly Active[];
  readonly at: number;
}

const maxWaiting = 50_000;
const maxInWrite = 2_000;
const patienceMs = 10_000;
/**
 * Interval at which unchanged series are written again: queries treat a series as ended after five
 * minutes without a sample.
 */
const repeatMs = 60_000;

/**
 * `ALERTS` and `ALERTS_FOR_STATE` in the metrics store, as Prometheus writes them of its own alerts: for dashboards, and for
 * rules about alerts. What the store does not take is lost and counted; evaluations do not wait for it.
 */
export class AlertSeries {
  readonly #parts: AlertSeriesParts;
  readonly #written = new Map<number, Written>();
  /** Start of the latest build of a rule's series, by rule id. */
  readonly #begun = new Map<number, object>();
  #waiting: SampleRow[] = [];
  #writing: Promise<void> | undefined;
  #out = false;

  constructor(parts: AlertSeriesParts) {
    this.#parts = parts;
  }

  /** Updates the series, after the commit of the findings. */
  async update({ rule, slot, at }: Standing): Promise<void> {
    const { instances, live } = this.#parts.ledger;
    const before = this.#written.get(rule.id);
    const named = new Map<string, Named>();
    const series = new Map<string, SampleRow>();
    const active: Active[] = [];
    const begun = {};
    this.#begun.set(rule.id, begun);
    // Of this moment: while this takes turns, others may change.
    await inTurns([...(instances.get(rule.id)?.values() ?? [])], (instance) => {
      const { key, phase: state, group, reading } = instance;
      if (state !== 'firing' && state !== 'pending') {
        return;
      }
      const known = before?.rule === rule ? before.named.get(key) : undefined;
      const name =
        known?.own === instance.labels && known.state === state
          ? known
          : nameOf(rule, instance.labels, state);
      named.set(key, name);
      const activeAt = slot - (at - activeSince(instance));
      const values = [1, Math.round(activeAt / 1_000)];
      name.series.forEach(([of, labels], which) =>
        series.set(of, { labels, time: slot, value: values[which]! }),
      );
      const incident = live.get(group);
      const alert = {
        labels: name.labels,
        annotations: incident?.annotations ?? {},
        state,
        activeAt,
        value: reading.value ?? NaN,
      };
      active.push({ alert, of: instance, incident });
    });
    // It may have come to its end meanwhile.
    if (this.#begun.get(rule.id) === begun) {
      this.#begun.delete(rule.id);
      this.#replace(rule.id, { rule, named, series, active, at: slot });
    }
  }

  /** Returns whether the store has series of the rule that still have to be ended. */
  hasSeries(ruleId: number): boolean {
    return this.#written.has(ruleId);
  }

  /** Returns the pending and firing alerts of the rule. */
  activeOf(ruleId: number, seen: SeenDevices): readonly ActiveAlert[] {
    const active = this.#written.get(ruleId)?.active ?? [];
    return seen === undefined
      ? active.map(({ alert }) => alert)
      : active
          .filter(({ of }) => isSeen(of, seen))
          .map(({ alert, incident }) =>
            incident?.scope_type === 'host' && !incident.asked
              ? alert
              : { ...alert, annotations: {} },
          );
  }

  /** The rule is not evaluated any more. */
  endRule(ruleId: number, now: number): void {
    this.#begun.delete(ruleId);
    this.#replace(ruleId, { named: new Map(), series: new Map(), active: [], at: now });
  }

  /** Writes again what was not written for a while: of rules that are rarely evaluated, or cannot be at the moment. */
  refresh(now: number): void {
    for (const [ruleId, { series, at, ...written }] of this.#written) {
      if (Math.abs(now - at) >= repeatMs) {
        this.#replace(ruleId, {
          ...written,
          series: new Map([...series].map(([key, row]) => [key, { ...row, time: now }])),
          at: now,
        });
      }
    }
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #replace(ruleId: number, next: Written): void {
    const { series, at } = next;
    const before = this.#written.get(ruleId)?.series ?? new Map<string, SampleRow>();
    const ended = [...before]
      .filter(([key]) => !series.has(key))
      .map(([, row]) => ({ ...row, time: at, value: 0, stale: true }));
    if (series.size === 0) {
      this.#written.delete(ruleId);
    } else {
      this.#written.set(ruleId, next);
    }
    this.#add([...ended, ...series.values()]);
  }

  #add(rows: readonly SampleRow[]): void {
    const { store, lost } = this.#parts;
    if (rows.length === 0 || !store.available) {
      return;
    }
    const room = maxWaiting - this.#waiting.length;
    // One after another: what comes with a storm is more than a call takes arguments.
    rows.slice(0, room).forEach((row) => this.#waiting.push(row));
    if (rows.length > room) {
      lost(rows.length - room);
    }
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    const { store, within, lost, log } = this.#parts;
    // What comes in the same breath goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0, maxInWrite);
      try {
        const { rejected, reasons } = await within(
          patienceMs,
          'the metrics store rejected the ALERTS series',
          () => store.get().write(rows),
        );
        if (rejected > 0) {
          lost(rejected);
          this.#logOutage(reasons.join('; '));
        } else if (this.#out) {
          this.#out = false;
          log.info({}, 'writing ALERTS series resumed');
        }
      } catch (error) {
        lost(rows.length);
        this.#logOutage(messageOf(error));
      }
    }
    // In the same step as the look for more: what comes later begins anew.
    this.#writing = undefined;
  }

  /** An outage is logged once. */
  #logOutage(cause: string): void {
    if (!this.#out) {
      this.#out = true;
      this.#parts.log.warn(
        { event: 'alert.series_not_written', cause },
        'failed to write ALERTS series; dropping samples until the metrics store accepts them',
      );
    }
  }
}

/** The labels of the alert, with the rule's own before those of its series, and what says which alert it is. */
function labelsOf(rule: Rule, own: LabelRecord): LabelRecord {
  const { severity = rule.severity, alertname = rule.name } = Object.fromEntries(
    Object.entries(own).filter(([name]) => Object.hasOwn(rule.labels, name)),
  );
  const all = { ...own, severity, alertname, rule_key: rule.rule_key };
  const { alertstate: _state, ...labels } = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== ''),
  );
  return labels;
}

function nameOf(rule: Rule, own: LabelRecord, state: ActiveAlert['state']): Named {
  const labels = labelsOf(rule, own);
  const names = [
    { ...labels, __name__: 'ALERTS', alertstate: state },
    { ...labels, __name__: 'ALERTS_FOR_STATE' },
  ];
  return { own, state, labels, series: names.map((name) => [labelKey(name), name]) };
}
