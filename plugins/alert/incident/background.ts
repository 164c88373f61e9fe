import type { MetricsQueries } from 'svc/contracts/metricsdb';
import type {
  Background,
  NoticeIncident,
  NoticeInstance,
  NoticeInstances,
} from 'svc/contracts/notify';
import { type Clock, type Handle, type Logger, messageOf, timestamp } from 'svc/sdk';

import { type Instance, isBurning } from '../instance/instance.ts';
import { stepsOf } from '../rule/playbook.ts';
import type { Plan, Rule, LiveRules } from '../rule/rule.ts';
import { unitOf } from '../rule/unit.ts';
import { type Mutable, mutableOf } from './gates/review.ts';
import type { InstanceReader } from './instance-reader.ts';
import type { Incident } from './ledger/incident.ts';
import { noticeIncidentOf, noticeInstanceOf } from './ledger/notice.ts';

export interface BackgroundParts {
  readonly ledger: {
    readonly live: ReadonlyMap<string, Incident>;
    byId(id: number): Promise<Incident | undefined>;
    instancesOf(group: string): ReadonlyMap<string, Instance>;
  };
  readonly instances: Pick<InstanceReader, 'some'>;
  readonly store: { diagnosis(id: number, seq: number): Promise<string | undefined> };
  readonly liveRules: Pick<LiveRules, 'get'>;
  readonly planOf: (rule: Rule) => Plan;
  readonly metrics: Handle<MetricsQueries>;
  readonly silencedBy: (one: Mutable) => { readonly id: number } | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const weekMs = 7 * 24 * hourMs;
/** A message does not wait longer for what it could do without. */
const patience = { timeoutMs: 2_000, maxSamples: 2_000_000 };
const maxBeside = 5;

/** Background that recipients of an incident want to see with it. */
export class Backgrounds {
  readonly #parts: BackgroundParts;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  async burning(ids: readonly number[]): Promise<readonly NoticeIncident[]> {
    const found = await Promise.all(ids.map((id) => this.#parts.ledger.byId(id)));
    return found.flatMap((incident) =>
      incident !== undefined && this.#isAudible(incident) ? [noticeIncidentOf(incident)] : [],
    );
  }

  async of(id: number): Promise<Background | undefined> {
    const { ledger, store, clock } = this.#parts;
    const incident = await ledger.byId(id);
    if (incident === undefined) {
      return undefined;
    }
    const now = clock.now();
    const [diagnosis, hour, week] = await Promise.all([
      store.diagnosis(id, incident.event_count),
      this.#measured(incident, { start: now - hourMs, end: now, step: minuteMs }),
      this.#measured(incident, {
        start: incident.last_fired_at - weekMs,
        end: incident.last_fired_at,
        step: hourMs,
      }),
    ]);
    const rule = this.#parts.liveRules.get(incident.rule_id);
    const unit = rule === undefined ? '' : unitOf(rule);
    const newest =
      [...ledger.instancesOf(incident.dedupe_key).values()].find(({ key }) => key === incident.lead)
        ?.reading.value ?? hour.at(-1)?.[1];
    return {
      incident: {
        ...noticeIncidentOf(incident),
        ...(newest !== undefined && newest !== null && { value: newest }),
      },
      ...(incident.acknowledged_by !== null && { acknowledged_by: incident.acknowledged_by }),
      ...(incident.acknowledged_at !== null && {
        acknowledged_at: timestamp(incident.acknowledged_at),
      }),
      ...(unit !== '' && { unit }),
      ...(hour.length > 1 && { hour }),
      ...(week.length > 1 && { week: spreadOf(week.map(([, value]) => value)) }),
      ...(diagnosis !== undefined && { diagnosis }),
      steps: stepsOf(incident.runbook_url),
      beside: this.#beside(incident),
    };
  }

  async instances(
    id: number,
    page: { readonly from: number; readonly limit: number },
  ): Promise<NoticeInstances> {
    const { ledger, instances } = this.#parts;
    const incident = await ledger.byId(id);
    if (incident === undefined) {
      return { items: [], total: 0 };
    }
    const { items, total } = await instances.some(incident, page);
    return {
      items: items.map(({ labels, state, value, since }) => ({
        labels,
        state,
        since,
        ...(value !== null && { value }),
      })),
      total,
    };
  }

  /** Returns the instances that a notice about the incident would name, without its limit. */
  async audible(id: number): Promise<readonly NoticeInstance[]> {
    const incident = await this.#parts.ledger.byId(id);
    return incident === undefined ? [] : this.#audible(incident).map(noticeInstanceOf);
  }

  #isAudible(incident: Incident): boolean {
    return incident.status === 'open' && this.#audible(incident).length > 0;
  }

  #audible(incident: Incident): readonly Instance[] {
    const { ledger, silencedBy } = this.#parts;
    return [...ledger.instancesOf(incident.dedupe_key).values()].filter(
      (one) => isBurning(one) && silencedBy(mutableOf(one, incident)) === undefined,
    );
  }

  #beside(incident: Incident): readonly string[] {
    const { device_id: device, id } = incident;
    return device === null
      ? []
      : [...this.#parts.ledger.live.values()]
          .filter(
            (other) => other.device_id === device && other.id !== id && other.status !== 'silenced',
          )
          .slice(0, maxBeside)
          .map(({ severity, summary }) => `${severity}: ${summary}`);
  }

  /**
   * Returns the recent measures of the series that represents an incident; empty if that series is
   * unknown.
   */
  async #measured(
    incident: Incident,
    window: { readonly start: number; readonly end: number; readonly step: number },
  ): Promise<readonly (readonly [number, number])[]> {
    const { liveRules, planOf, metrics, log } = this.#parts;
    const rule = liveRules.get(incident.rule_id);
    const measure = rule && planOf(rule).legs.find((leg) => leg.store === 'metrics')?.measure;
    if (measure === undefined || !metrics.available) {
      return [];
    }
    const enforce =
      incident.device_id === null
        ? []
        : [{ name: 'device_id', op: '=' as const, value: incident.device_id }];
    try {
      const { labels, times, values } = await metrics
        .get()
        .range(measure, window, { ...patience, enforce });
      const at = labels.findIndex((series) => isOf(series, incident.labels));
      return at < 0
        ? []
        : [...times[at]!]
            .map((time, index) => [time, values[at]![index]!] as const)
            .filter(([, value]) => Number.isFinite(value));
    } catch (error) {
      // A store that does not answer is an incident of its own; this one is told without its past.
      log.debug(
        { incident: incident.id, cause: messageOf(error) },
        "failed to read an incident's history; sending the message without it",
      );
      return [];
    }
  }
}

const isOf = (series: Readonly<Record<string, string>>, labels: Incident['labels']): boolean =>
  Object.entries(series).every(
    ([name, value]) =>
      name === '__name__' || !Object.hasOwn(labels, name) || labels[name] === value,
  );

const spreadOf = (values: readonly number[]): NonNullable<Background['week']> => ({
  average: values.reduce((sum, value) => sum + value, 0) / values.length,
  lowest: values.reduce((least, value) => Math.min(least, value)),
  highest: values.reduce((most, value) => Math.max(most, value)),
});
