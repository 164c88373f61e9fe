import { sql } from 'kysely';
import type { SeenDevices } from 'svc/query';
import { type Page, type PageRequest, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { type Mutable, mutableOf } from '../incident/gates/review.ts';
import type { Incident } from '../incident/ledger/incident.ts';
import type { IncidentTables } from '../incident/ledger/tables.ts';
import type { Instance } from '../instance/instance.ts';
import type { MutedItem, SilenceLabels, SilencePreview } from './schema.ts';
import { labelsSeenBy, mutes, type Silence } from './silence.ts';

type Muted = Static<typeof MutedItem>;
type Matching = Pick<Silence, 'matchers' | 'devices'>;

export interface SilenceReachParts {
  readonly tables: Tables<IncidentTables>;
  readonly ledger: {
    readonly live: ReadonlyMap<string, Incident>;
    instancesOf(group: string): ReadonlyMap<string, Instance>;
  };
}

const dayMs = 86_400_000;
const maxShown = 50;
const maxLabels = 200;
const maxValues = 100;
const maxPast = 100_000;

/** Instances that matchers mute, or would mute. */
export class SilenceReach {
  readonly #parts: SilenceReachParts;

  constructor(parts: SilenceReachParts) {
    this.#parts = parts;
  }

  async preview(
    silence: Matching,
    now: number,
    seen: SeenDevices,
  ): Promise<Omit<Static<typeof SilencePreview>, 'windows'>> {
    const firing = [...this.#firing(seen)];
    const muted = firing.filter(([, , one]) => mutes(silence, one));
    const past = (await this.#ofLastDay(now)).filter((one) => isSeen(one, seen));
    const mutedPast = past.filter((one) => mutes(silence, one)).length;
    return {
      summary: `mutes ${muted.length} of ${firing.length} now, ${mutedPast} of ${past.length} in the last 24 h`,
      firing_now: firing.length,
      muted_now: muted.length,
      fired_last_24h: past.length,
      muted_last_24h: mutedPast,
      muted: muted.slice(0, maxShown).map(([instance, incident]) => shown(instance, incident)),
    };
  }

  /** Returns the labels that a silence could match, the most frequent values first. */
  async labels(now: number, seen: SeenDevices): Promise<Static<typeof SilenceLabels>> {
    const counts = new Map<string, Map<string, { now: number; past: number }>>();
    const count = (one: Mutable, which: 'now' | 'past'): void => {
      for (const [name, value] of Object.entries(labelsSeenBy(one))) {
        const values = counts.get(name) ?? new Map<string, { now: number; past: number }>();
        const found = values.get(value) ?? { now: 0, past: 0 };
        if (value !== '' && (counts.has(name) || counts.size < maxLabels)) {
          counts.set(name, values.set(value, { ...found, [which]: found[which] + 1 }));
        }
      }
    };
    [...this.#firing(seen)].forEach(([, , one]) => count(one, 'now'));
    (await this.#ofLastDay(now))
      .filter((one) => isSeen(one, seen))
      .forEach((one) => count(one, 'past'));
    return {
      items: [...counts]
        .map(([name, values]) => ({
          name,
          values: [...values]
            .map(([value, found]) => ({
              value,
              firing_now: found.now,
              fired_last_24h: found.past,
            }))
            .sort((a, b) => b.firing_now - a.firing_now || b.fired_last_24h - a.fired_last_24h)
            .slice(0, maxValues),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  /** Returns the firing instances that are muted, sorted by key. */
  muted(silence: Matching, { limit, after }: PageRequest, seen: SeenDevices): Page<Muted> {
    const all = [...this.#firing(seen)]
      .filter(([, , one]) => mutes(silence, one))
      .sort(([{ key: a }], [{ key: b }]) => (a < b ? -1 : 1));
    const rest = after === undefined ? all : all.filter(([{ key }]) => key > String(after[0]));
    const items = rest.slice(0, limit);
    return {
      items: items.map(([instance, incident]) => shown(instance, incident)),
      total: all.length,
      next: rest.length > limit ? [items.at(-1)![0].key] : undefined,
    };
  }

  *#firing(seen: SeenDevices): Generator<readonly [Instance, Incident, Mutable]> {
    const { ledger } = this.#parts;
    for (const incident of ledger.live.values()) {
      for (const instance of ledger.instancesOf(incident.dedupe_key).values()) {
        const one = mutableOf(instance, incident);
        if (instance.phase === 'firing' && isSeen(one, seen)) {
          yield [instance, incident, one];
        }
      }
    }
  }

  /** Returns what has fired within a day, whether or not it still does. */
  async #ofLastDay(now: number): Promise<readonly Mutable[]> {
    const found = await sql<{ labels: string } & Omit<Mutable, 'labels'>>`
      select one.labels, one.scope_id, case when one.dedupe_key = one.incident_key and one.scope_id <> one.device_id then null else one.device_id end as device_id, incident.rule_key, incident.severity, incident.scope_type
      from alert_instances as one join alert_incidents as incident on incident.dedupe_key = one.incident_key
      where one.phase in ('firing', 'held') and (one.resolved_at is null or one.resolved_at >= ${now - dayMs})
      limit ${maxPast}`.execute(this.#parts.tables.read);
    return found.rows.map((row) => ({
      ...row,
      labels: JSON.parse(row.labels) as Mutable['labels'],
    }));
  }
}

const isSeen = ({ device_id: device }: Mutable, seen: SeenDevices): boolean =>
  seen === undefined || (device !== null && seen.ids.has(Number(device)));

const shown = (
  { labels, startedAt }: Instance,
  { id, rule_key: rule, severity }: Incident,
): Muted => ({
  incident_id: id,
  rule,
  severity,
  labels: { ...labels },
  since: timestamp(startedAt),
});
