import { sql } from 'kysely';
import type { InstanceState } from 'svc/contracts/alert';
import type { SeenDevices } from 'svc/query';
import { type Page, type PageRequest, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Instance } from '../instance/instance.ts';
import type { Stale } from '../instance/stale-instances.ts';
import { type Mutable, mutableOf } from './gates/review.ts';
import type { Incident } from './ledger/incident.ts';
import { instanceOf } from './ledger/ledger-rows.ts';
import { isSeen, whereSeen } from './ledger/seen-incidents.ts';
import type { IncidentTables, InstanceRow } from './ledger/tables.ts';
import type { InstanceItem } from './schema.ts';

export type ShownInstance = Static<typeof InstanceItem>;

export interface InstanceReaderParts {
  readonly tables: Tables<IncidentTables>;
  /** Ledger with the instances in memory and their latest readings. */
  readonly ledger: { instancesOf(group: string): ReadonlyMap<string, Instance> };
  /** Returns the instances of a rule whose source is silent. */
  readonly staleOf: (ruleId: number) => Stale;
  readonly silencedBy: (one: Mutable) => { readonly id: number } | undefined;
}

/** Time for which an instance that has left its incident stays listed. */
const listedMs = 86_400_000;

/** The instances of an incident as readers see them. */
export class InstanceReader {
  readonly #parts: InstanceReaderParts;

  constructor(parts: InstanceReaderParts) {
    this.#parts = parts;
  }

  /** Returns current instances before those that have left, each sorted by key. */
  async list(
    incident: Incident,
    state: InstanceState | undefined,
    { limit, after }: PageRequest,
    seen: SeenDevices,
  ): Promise<Page<ShownInstance>> {
    const matching = this.#inState(incident, state, seen);
    const rows = await matching
      .selectAll()
      .$if(after !== undefined, (query) =>
        query.where(
          sql<boolean>`(case when resolved_at is null then 0 else 1 end, dedupe_key) > (${after![0]}, ${after![1]})`,
        ),
      )
      .orderBy(sql`resolved_at is not null`)
      .orderBy('dedupe_key')
      .limit(limit + 1)
      .execute();
    const { total } = await matching
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return {
      items: items.map((row) => this.#shown(row, incident)),
      total,
      next:
        rows.length > limit ? [last!.resolved_at === null ? 0 : 1, last!.dedupe_key] : undefined,
    };
  }

  /**
   * Returns up to a number of instances after the first `from`, in the order of `list`; for
   * internal use.
   */
  async some(
    incident: Incident,
    { from, limit }: { readonly from: number; readonly limit: number },
  ): Promise<Pick<Page<ShownInstance>, 'items'> & { readonly total: number }> {
    const all = this.#inState(incident, undefined, undefined);
    const rows = await all
      .selectAll()
      .orderBy(sql`resolved_at is not null`)
      .orderBy('dedupe_key')
      .limit(limit)
      .offset(from)
      .execute();
    const { total } = await all
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return { items: rows.map((row) => this.#shown(row, incident)), total };
  }

  /** Returns since when all firing instances are stale; null if one is not, or none fires. */
  staleSince(
    { dedupe_key: group, rule_id: rule }: Pick<Incident, 'dedupe_key' | 'rule_id'>,
    seen: SeenDevices,
  ): number | null {
    const stale = this.#parts.staleOf(rule);
    let since: number | null = null;
    for (const instance of stale.size === 0 ? [] : this.#parts.ledger.instancesOf(group).values()) {
      const { key, phase } = instance;
      if (!isSeen(instance, seen)) {
        continue;
      }
      const moment = stale.get(key);
      if (phase === 'firing' && moment === undefined) {
        return null;
      }
      since = moment === undefined ? since : Math.max(since ?? 0, moment.wall);
    }
    return since;
  }

  /** Deletes instances that left their incident long ago. */
  async removeOver(now: number): Promise<void> {
    await this.#parts.tables.write((tx) =>
      tx
        .deleteFrom('alert_instances')
        .where('resolved_at', '<', now - listedMs)
        .execute(),
    );
  }

  #inState(
    { dedupe_key: group, rule_id: rule }: Incident,
    state: InstanceState | undefined,
    seen: SeenDevices,
  ) {
    const rows = this.#parts.tables.read
      .selectFrom('alert_instances')
      .where('incident_key', '=', group)
      .$if(seen !== undefined, (query) => query.where(whereSeen(seen!)));
    const stale = JSON.stringify([...this.#parts.staleOf(rule).keys()]);
    switch (state) {
      case undefined:
        return rows;
      case 'resolved':
        return rows.where('resolved_at', 'is not', null);
      case 'pending':
        return rows.where('resolved_at', 'is', null).where('phase', 'in', ['pending', 'partial']);
      case 'firing':
        return burning().where(
          sql<boolean>`dedupe_key not in (select value from json_each(${stale}))`,
        );
      case 'stale':
        return burning().where(sql<boolean>`dedupe_key in (select value from json_each(${stale}))`);
    }

    function burning() {
      return rows.where('resolved_at', 'is', null).where('phase', 'in', ['firing', 'held']);
    }
  }

  #shown(row: InstanceRow, incident: Incident): ShownInstance {
    const instance =
      this.#parts.ledger.instancesOf(incident.dedupe_key).get(row.dedupe_key) ?? instanceOf(row);
    const { labels, reading, startedAt } = instance;
    const state = this.#stateOf(row, incident);
    const stale =
      state === 'stale' ? this.#parts.staleOf(incident.rule_id).get(row.dedupe_key) : undefined;
    return {
      labels: { ...labels },
      state,
      value: reading.value,
      worst_value: reading.worst,
      since: timestamp(stale?.wall ?? startedAt),
      last_seen_at: timestamp(reading.seenAt),
      resolved_at: row.resolved_at === null ? null : timestamp(row.resolved_at),
      silenced_by: row.resolved_at === null ? this.#silenceOf(instance, incident) : null,
    };
  }

  #stateOf(
    { phase, resolved_at: over, dedupe_key: key }: InstanceRow,
    { rule_id: rule }: Incident,
  ): InstanceState {
    if (over !== null) {
      return 'resolved';
    }
    if (phase === 'partial' || phase === 'pending') {
      return 'pending';
    }
    return this.#parts.staleOf(rule).has(key) ? 'stale' : 'firing';
  }

  #silenceOf(instance: Instance, incident: Incident): string | null {
    const silence = this.#parts.silencedBy(mutableOf(instance, incident));
    return silence !== undefined
      ? `silence ${silence.id}`
      : incident.status === 'silenced'
        ? 'incident'
        : null;
  }
}
