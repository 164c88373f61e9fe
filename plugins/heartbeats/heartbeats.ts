import { Slots } from 'svc/cron';
import {
  type Call,
  type Clock,
  type Ids,
  isSvcError,
  type Page,
  pageOfList,
  type PageRequest,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import type { HeartbeatState } from './heartbeat/heartbeat.ts';
import type {
  HeartbeatAddress,
  HeartbeatChange,
  HeartbeatDraft,
  HeartbeatMade,
  HeartbeatShown,
  PingShown,
} from './heartbeat/heartbeat-schema.ts';
import { digestOf, type Reports } from './reports.ts';
import {
  type HeartbeatRow,
  heartbeatStore,
  type HeartbeatTables,
} from './heartbeat/heartbeat-store.ts';

export interface HeartbeatsParts {
  readonly tables: Tables<HeartbeatTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'token'>;
  /** Base URL under which jobs reach svc. */
  readonly publicUrl: () => string;
  readonly reports: Reports;
}

type Actor = Pick<Call, 'note' | 'requireMatch'>;

const maxHeartbeats = 2_000;

/** Jobs that report that they have run, and what is known of those that did not. */
export class Heartbeats {
  readonly #parts: HeartbeatsParts;

  constructor(parts: HeartbeatsParts) {
    this.#parts = parts;
  }

  list(page: PageRequest): Page<HeartbeatShown> {
    const { items, ...rest } = pageOfList(this.#parts.reports.list(), ({ name }) => name, page);
    return { ...rest, items: items.map((row) => this.#shown(row)) };
  }

  get(name: string): HeartbeatShown {
    return this.#shown(this.#row(name));
  }

  /** Returns the last reports; their logs only for whoever may edit heartbeats. */
  async pings(name: string, withLogs: boolean): Promise<PingShown[]> {
    return await this.#parts.reports.pings(this.#row(name), withLogs);
  }

  /** Returns the address that a job reports to, for whoever may edit heartbeats. */
  addressOf(name: string): HeartbeatAddress {
    const row = this.#row(name);
    try {
      return { url: this.#urlOf(this.#parts.secrets.open(placeOf(row.id), row.token)) };
    } catch (error) {
      throw isSvcError(error) ? errors.sealed({ name }, { cause: error }) : error;
    }
  }

  async create(call: Actor, draft: HeartbeatDraft): Promise<HeartbeatMade> {
    const { name, period_s: period = null, cron = null } = draft;
    const { time_zone: zone = 'UTC', grace_s: grace = 300 } = draft;
    requirePace({ period_s: period, cron, time_zone: zone });
    const { tables, clock, secrets, ids } = this.#parts;
    const token = ids.token(24);
    const row = await tables.write(async (tx) => {
      const store = heartbeatStore(tx);
      const all = await store.all();
      if (all.some((other) => other.name === name)) {
        throw errors.taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
      }
      if (all.length >= maxHeartbeats) {
        throw errors.too_many({ max: maxHeartbeats });
      }
      const now = Math.floor(clock.now());
      const made = await store.insert({
        name,
        token_digest: digestOf(token),
        token: '',
        period_s: period,
        cron,
        time_zone: zone,
        grace_s: grace,
        state_since: now,
        cause: null,
        failure: null,
        counted_from: null,
        started_at: null,
        last_ping_at: null,
        created_at: now,
        updated_at: now,
      });
      const sealed = await store.update(made.id, {
        token: secrets.seal(placeOf(made.id), token),
      });
      call.note({ resourceType: 'heartbeat', resourceId: name, after: settledOf(sealed) });
      return sealed;
    });
    this.#parts.reports.put(row);
    return { ...this.#shown(row), url: this.#urlOf(token) };
  }

  async change(call: Actor, name: string, change: HeartbeatChange): Promise<HeartbeatShown> {
    const { paused, ...fields } = change;
    const { tables, clock } = this.#parts;
    const row = await tables.write(async (tx) => {
      const store = heartbeatStore(tx);
      const before = (await store.find(name)) ?? missing(name);
      call.requireMatch(this.#shown(this.#parts.reports.get(name) ?? before));
      requirePace({ ...before, ...fields });
      const now = Math.floor(clock.now());
      const isBack = before.paused === 1 && paused === false;
      const after = await store.update(before.id, {
        ...fields,
        ...(paused !== undefined && { paused: paused ? 1 : 0 }),
        // What was not reported while it was paused is forgotten.
        ...(isBack && before.counted_from !== null && { counted_from: now, started_at: null }),
        updated_at: Math.max(before.updated_at + 1, now),
      });
      call.note({
        resourceType: 'heartbeat',
        resourceId: name,
        before: settledOf(before),
        after: settledOf(after),
      });
      return after;
    });
    this.#parts.reports.put(row);
    await (row.paused === 1 ? this.#parts.reports.rest(row) : this.#parts.reports.tick());
    return this.get(name);
  }

  /** Gives a heartbeat another address; the one before is refused from then on. */
  async rotate(call: Actor, name: string): Promise<HeartbeatAddress> {
    const { tables, secrets, ids, clock } = this.#parts;
    const token = ids.token(24);
    const row = await tables.write(async (tx) => {
      const before = (await heartbeatStore(tx).find(name)) ?? missing(name);
      call.note({ resourceType: 'heartbeat', resourceId: name });
      return await heartbeatStore(tx).update(before.id, {
        token_digest: digestOf(token),
        token: secrets.seal(placeOf(before.id), token),
        updated_at: Math.max(before.updated_at + 1, Math.floor(clock.now())),
      });
    });
    this.#parts.reports.put(row);
    return { url: this.#urlOf(token) };
  }

  async remove(call: Actor, name: string): Promise<void> {
    const { tables, reports } = this.#parts;
    const row = this.#row(name);
    await tables.write(async (tx) => {
      call.requireMatch(this.#shown(row));
      await heartbeatStore(tx).remove(row.id);
      call.note({ resourceType: 'heartbeat', resourceId: name, before: settledOf(row) });
    });
    await reports.remove(row);
  }

  #row(name: string): HeartbeatRow {
    return this.#parts.reports.get(name) ?? missing(name);
  }

  #urlOf(token: string): string {
    return `${this.#parts.publicUrl().replace(/\/$/, '')}/hb/${token}`;
  }

  #shown(row: HeartbeatRow): HeartbeatShown {
    const { name, period_s, cron, time_zone, grace_s } = row;
    const { expectedAt } = this.#parts.reports.standing(row);
    const isPaused = row.paused === 1;
    return {
      name,
      period_s,
      cron,
      time_zone,
      grace_s,
      paused: isPaused,
      state: isPaused ? 'paused' : (row.state as HeartbeatState),
      since: timestamp(row.state_since),
      cause: isPaused ? null : row.cause,
      expected_at:
        isPaused || expectedAt === null || !Number.isFinite(expectedAt)
          ? null
          : timestamp(expectedAt),
      last_ping_at: row.last_ping_at === null ? null : timestamp(row.last_ping_at),
      created_at: timestamp(row.created_at),
      updated_at: timestamp(row.updated_at),
    };
  }
}

function requirePace({
  period_s: period,
  cron,
  time_zone: zone,
}: Pick<HeartbeatRow, 'period_s' | 'cron' | 'time_zone'>): void {
  if ((period === null) === (cron === null)) {
    throw errors.one_pace({ details: [{ path: '/period_s', message: 'or cron must be set' }] });
  }
  void (cron !== null && new Slots(cron, zone));
}

const settledOf = ({ period_s, cron, time_zone, grace_s, paused }: HeartbeatRow) => ({
  period_s,
  cron,
  time_zone,
  grace_s,
  paused: paused === 1,
});

const placeOf = (id: number) => ({
  table: 'heartbeats_heartbeats',
  row: String(id),
  column: 'token',
});

const missing = (name: string): never => {
  throw errors.unknown({ name });
};
