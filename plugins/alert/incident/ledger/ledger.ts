import { inTurns } from 'svc/flow';
import { type Clock, type Logger, messageOf, type Tables } from 'svc/sdk';

import type { Instance } from '../../instance/instance.ts';
import { type Changes, Draft } from './draft.ts';
import { errors } from './errors.ts';
import type { FamilyOf } from './families.ts';
import { type Incident, isActive, isUnnotified } from './incident.ts';
import { Inhibitors } from './inhibitors.ts';
import { InstanceTable } from './instance-table.ts';
import {
  changedIncidents,
  incidentOf,
  incidentsById,
  incidentsByKey,
  insertEvents,
  insertIncidents,
  instanceOf,
  instanceRowOf,
  leaverRows,
  nameLeavers,
  parts,
  removeInstances,
  replaceIncidents,
  replaceInstances,
  rowOf,
  storeReadings,
  writeInParts,
} from './ledger-rows.ts';
import { leaverOf, Leavers } from './leavers.ts';
import { type HandOver, noticeOf } from './notice.ts';
import type { EventRow, IncidentTables } from './tables.ts';

/** When the evaluator was last at work, in steady time, and how far the wall had jumped from that. */
export interface Heartbeat {
  readonly at: number;
  readonly drift: number;
}

export interface LedgerParts {
  readonly tables: Tables<IncidentTables>;
  /** Hands notices over in the transaction of the change that they are about. */
  readonly handOver: HandOver;
  readonly clock: Clock;
  readonly log: Logger;
  readonly familyOf: FamilyOf;
  /** Called after each commit with what it changed. */
  readonly changed: (
    incidents: readonly Incident[],
    events: ReadonlyMap<string, readonly string[]>,
  ) => Promise<void> | void;
}

/**
 * Every incident that is not over, and where each condition stands: in memory as it is on disk. Changes are transactions,
 * one after another; memory follows the commit, so that a write that fails has changed nothing.
 */
export class Ledger {
  readonly #parts: LedgerParts;
  #live = new Map<string, Incident>();
  #ids = new Map<number, string>();
  #instances = new InstanceTable();
  #leavers = new Leavers();
  #inhibitors: Inhibitors;
  #heartbeat: Heartbeat | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Memory may differ from the disk. */
  #isStale = true;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#inhibitors = new Inhibitors(parts.familyOf);
  }

  get live(): ReadonlyMap<string, Incident> {
    return this.#live;
  }

  /** Instances by rule. */
  get instances(): ReadonlyMap<number, ReadonlyMap<string, Instance>> {
    return this.#instances.byRule;
  }

  /** Returns the instances of one incident, by its dedupe key. */
  instancesOf(group: string): ReadonlyMap<string, Instance> {
    return this.#instances.of(group);
  }

  /** Returns whether an incident has firing instances that channels were not notified of. */
  hasNews(group: string): boolean {
    return this.#instances.hasNews(group);
  }

  /** Heartbeat found when the ledger was loaded. */
  get heartbeat(): Heartbeat | undefined {
    return this.#heartbeat;
  }

  /** Loads what is on disk. */
  async load(): Promise<void> {
    const { tables } = this.#parts;
    const live = await tables.read
      .selectFrom('alert_incidents')
      .selectAll()
      .where('status', '<>', 'resolved')
      .orderBy('id')
      .execute();
    const instances = await tables.read
      .selectFrom('alert_instances')
      .selectAll()
      .where('resolved_at', 'is', null)
      .execute();
    const left = await leaverRows(tables.read);
    const beat = await tables.read
      .selectFrom('alert_heartbeat')
      .select(['at', 'drift'])
      .where('id', '=', 1)
      .executeTakeFirst();
    this.#live = new Map();
    this.#ids = new Map();
    this.#inhibitors = new Inhibitors(this.#parts.familyOf);
    this.#instances = new InstanceTable();
    this.#leavers = new Leavers();
    live.forEach((row) => this.#add(incidentOf(row)));
    instances.forEach((row) => this.#instances.set(row.rule_id, row.dedupe_key, instanceOf(row)));
    left.forEach((row) =>
      this.#leavers.add(leaverOf(instanceOf(row), row.resolved_at!, row.unnamed === 0)),
    );
    this.#heartbeat = beat;
    this.#isStale = false;
  }

  async saveHeartbeat(heartbeat: Heartbeat): Promise<void> {
    await this.#parts.tables.write((tx) =>
      tx
        .insertInto('alert_heartbeat')
        .values({ id: 1, ...heartbeat })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(heartbeat))
        .execute(),
    );
  }

  /** Stores the latest readings of instances whose state has long been unchanged. */
  async saveReadings(): Promise<void> {
    const lasting = [...this.#instances.byRule.values()].flatMap((found) => [...found.values()]);
    if (lasting.length > 0) {
      await this.#parts.tables.write((tx) => storeReadings(tx as never, lasting));
    }
  }

  /**
   * Runs `work` after all earlier transactions, then stores its draft. An error changes nothing.
   */
  transact<R>(work: (draft: Draft) => R | Promise<R>): Promise<R> {
    const before = this.#last;
    const own = (async () => {
      await before.catch(() => undefined);
      if (this.#isStale) {
        await this.load();
      }
      const draft = new Draft({
        live: this.#live,
        instances: this.#instances,
        leavers: this.#leavers,
        inhibitors: this.#inhibitors,
        familyOf: this.#parts.familyOf,
      });
      const result = await work(draft);
      if (!draft.isEmpty) {
        await this.#save(draft.changes());
      }
      return result;
    })();
    // The error is for the caller of this one only.
    this.#last = own.catch(() => undefined);
    return own;
  }

  /** Returns resolved incidents with these keys, which may fire again. */
  async resolvedWith(keys: readonly string[]): Promise<readonly Incident[]> {
    const unknown = keys.filter((key) => !this.#live.has(key));
    return await incidentsByKey(this.#parts.tables.read, unknown);
  }

  async byId(id: number): Promise<Incident | undefined> {
    const key = this.#ids.get(id);
    if (key !== undefined) {
      return this.#live.get(key);
    }
    const row = await this.#parts.tables.read
      .selectFrom('alert_incidents')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && incidentOf(row);
  }

  /**
   * Ends cooldowns after channels were sent the end of incidents: what was notified before delays
   * no later firing.
   */
  endCooldown(ids: readonly number[]): Promise<void> {
    return this.transact(async (draft) => {
      const live = ids.flatMap((id) => this.#live.get(this.#ids.get(id) ?? '') ?? []);
      const unknown = ids.filter((id) => !this.#ids.has(id));
      const over = await incidentsById(this.#parts.tables.read, unknown);
      for (const incident of [...live, ...over]) {
        if (incident.notified_at !== null && (!isActive(incident) || isUnnotified(incident))) {
          draft.setIncident({ ...incident, notified_at: null });
        }
      }
    });
  }

  async #save(changes: Changes): Promise<void> {
    const { tables, log } = this.#parts;
    let stored: ReadonlyMap<string, Incident>;
    try {
      stored = await tables.write((tx) => this.#store(tx as never, changes));
    } catch (error) {
      this.#isStale = true;
      log.warn(
        {
          event: 'alert.incidents_not_stored',
          cause: messageOf(error),
          incidents: changes.incidents.size,
        },
        'failed to store incident changes; reloading state from disk',
      );
      throw error;
    }
    await inTurns(changes.leavers, ([key, { group, leaver }]) => {
      if (leaver === undefined) {
        this.#leavers.remove(group, key);
      } else {
        this.#leavers.add(leaver);
      }
    });
    await inTurns(stored.values(), (incident) => {
      const known = this.#live.get(incident.dedupe_key);
      if (known !== undefined) {
        this.#remove(known);
      }
      if (isActive(incident)) {
        this.#add(incident);
      } else if (incident.notified_at === null) {
        // Channels believe nothing of it any more.
        this.#leavers.removeAll(incident.dedupe_key);
      }
    });
    await inTurns(changes.instances, ([key, { ruleId, instance }]) =>
      this.#instances.set(ruleId, key, instance),
    );
    const types = new Map<string, string[]>();
    for (const { key, event } of changes.events) {
      types.set(key, [...(types.get(key) ?? []), event.type]);
    }
    await this.#parts.changed([...stored.values()], types);
  }

  /**
   * Stores one transaction: incidents, their timeline entries, states of conditions, and notices.
   */
  async #store(
    tx: Tables<IncidentTables>['read'],
    changes: Changes,
  ): Promise<ReadonlyMap<string, Incident>> {
    const { clock, handOver } = this.#parts;
    const now = clock.now();
    const touched = [...changes.incidents.values()];
    const known = touched.filter(({ id }) => id !== 0);
    if (
      known.length > 0 &&
      (await changedIncidents(tx, new Map(known.map(({ id, version }) => [id, version]))))
    ) {
      throw errors.other_writer();
    }
    const stored = new Map<string, Incident>();
    const fresh = touched.filter(({ id }) => id === 0);
    await writeInParts(fresh, async (some) => {
      const next = some.map((incident) => ({ ...incident, version: incident.version + 1 }));
      const ids = await insertIncidents(tx, next.map(rowOf));
      next.forEach((one) => stored.set(one.dedupe_key, { ...one, id: ids.get(one.dedupe_key)! }));
    });
    await writeInParts(known, (some) => {
      const next = some.map((incident) => ({ ...incident, version: incident.version + 1 }));
      next.forEach((one) => stored.set(one.dedupe_key, one));
      return replaceIncidents(tx, next.map(rowOf));
    });
    await writeInParts(changes.events, (some) =>
      insertEvents(
        tx,
        some.map(({ key, event, status, severity }) =>
          eventRow(stored.get(key)!.id, { event, status, severity, now }),
        ),
      ),
    );
    await writeInParts([...changes.named], (some) => nameLeavers(tx, some));
    await storeInstances(tx, changes, now);
    for (const some of parts(changes.notices)) {
      const notices = some.map((drafted) => {
        const { id, version } = stored.get(drafted.key)!;
        return noticeOf({ ...drafted, incident: { ...drafted.incident, id, version } });
      });
      await handOver(tx, notices);
    }
    return stored;
  }

  #add(incident: Incident): void {
    this.#live.set(incident.dedupe_key, incident);
    this.#ids.set(incident.id, incident.dedupe_key);
    this.#inhibitors.add(incident);
  }

  #remove(incident: Incident): void {
    this.#live.delete(incident.dedupe_key);
    this.#ids.delete(incident.id);
    this.#inhibitors.remove(incident);
  }
}

/** Stores instances; resolved ones stay listed for a while. */
const storeInstances = (
  tx: Tables<IncidentTables>['read'],
  { instances, leavers }: Changes,
  now: number,
): Promise<void> =>
  writeInParts([...instances], async (some) => {
    const kept = some.flatMap(([key, { ruleId, before, instance }]) =>
      instance !== undefined
        ? [instanceRowOf(ruleId, instance)]
        : before?.phase === 'firing' || before?.phase === 'held'
          ? [
              instanceRowOf(ruleId, before, {
                at: now,
                isNamed: leavers.get(key)?.leaver?.isNamed ?? true,
              }),
            ]
          : [],
    );
    const listed = new Set(kept.map(({ dedupe_key: key }) => key));
    const gone = some.flatMap(([key]) => (listed.has(key) ? [] : [key]));
    await Promise.all([
      kept.length > 0 && replaceInstances(tx, kept),
      gone.length > 0 && removeInstances(tx, gone),
    ]);
  });

const eventRow = (
  incidentId: number,
  {
    event,
    status,
    severity,
    now,
  }: Pick<Changes['events'][number], 'event' | 'status' | 'severity'> & { readonly now: number },
): Omit<EventRow, 'id'> => ({
  incident_id: incidentId,
  type: event.type,
  status_after: status,
  severity,
  message: event.message,
  actor_type: event.actor.type,
  actor_id: event.actor.id,
  actor_name: event.actor.name,
  data: JSON.stringify(event.data),
  delivery_id: null,
  created_at: now,
});
