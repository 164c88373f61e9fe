import { createHash } from 'node:crypto';

import { Slots } from 'svc/cron';
import type { SampleRow } from 'svc/contracts/metricsdb';
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
import {
  countedAfterAway,
  type HeartbeatState,
  type Pace,
  type Standing,
  standingAt,
} from './heartbeat/heartbeat.ts';
import type {
  HeartbeatAddress,
  HeartbeatChange,
  HeartbeatDraft,
  HeartbeatMade,
  HeartbeatShown,
  PingShown,
} from './heartbeat/heartbeat-schema.ts';
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
  /** Takes samples; may refuse them. */
  readonly write: (rows: readonly SampleRow[]) => Promise<void>;
  /** Ends the series of a heartbeat. */
  readonly end: (name: string) => Promise<void>;
}

/** Report of a job. */
export interface Signal {
  readonly kind: 'success' | 'start' | 'fail';
  readonly exitCode: number | null;
  readonly source: string | null;
  readonly log: string | null;
}

type Actor = Pick<Call, 'note' | 'requireMatch'>;

const maxHeartbeats = 2_000;
const shownPings = 100;

/** Jobs that report that they have run, and what is known of those that did not. */
export class Heartbeats {
  readonly #parts: HeartbeatsParts;
  readonly #rows = new Map<number, HeartbeatRow>();

  constructor(parts: HeartbeatsParts) {
    this.#parts = parts;
  }

  /** Takes all in as they were; a time in which svc was away counts for nobody. */
  async load(): Promise<void> {
    const { tables, clock } = this.#parts;
    const until = Math.floor(clock.now());
    await tables.write(async (tx) => {
      const store = heartbeatStore(tx);
      const from = await store.aliveAt();
      for (const row of await store.all()) {
        const counted =
          from === undefined || row.counted_from === null || row.state === 'down'
            ? row.counted_from
            : countedAfterAway(paceOf(row), row.counted_from, { from, until });
        // The end of a run that began before may have been missed as well.
        const startedAt = row.started_at === null || row.state === 'down' ? row.started_at : until;
        this.#keep(
          counted === row.counted_from && startedAt === row.started_at
            ? row
            : await store.update(row.id, { counted_from: counted, started_at: startedAt }),
        );
      }
      await store.noteAlive(until);
    });
  }

  list(page: PageRequest): Page<HeartbeatShown> {
    const { items, ...rest } = pageOfList([...this.#rows.values()], ({ name }) => name, page);
    return { ...rest, items: items.map((row) => this.#shown(row)) };
  }

  get(name: string): HeartbeatShown {
    return this.#shown(this.#row(name));
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
    this.#keep(row);
    return { ...this.#shown(row), url: this.#urlOf(token) };
  }

  async change(call: Actor, name: string, change: HeartbeatChange): Promise<HeartbeatShown> {
    const { paused, ...fields } = change;
    const { tables, clock } = this.#parts;
    const row = await tables.write(async (tx) => {
      const store = heartbeatStore(tx);
      const before = (await store.find(name)) ?? missing(name);
      call.requireMatch(this.#shown(this.#rows.get(before.id) ?? before));
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
    this.#keep(row);
    await this.tick();
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
    this.#keep(row);
    return { url: this.#urlOf(token) };
  }

  async remove(call: Actor, name: string): Promise<void> {
    const { tables, end } = this.#parts;
    const row = this.#row(name);
    await tables.write(async (tx) => {
      call.requireMatch(this.#shown(row));
      await heartbeatStore(tx).remove(row.id);
      call.note({ resourceType: 'heartbeat', resourceId: name, before: settledOf(row) });
    });
    this.#rows.delete(row.id);
    await end(name);
  }

  /** Returns the last reports; their logs only for whoever may edit heartbeats. */
  async pings(name: string, withLogs: boolean): Promise<PingShown[]> {
    const { id } = this.#row(name);
    const rows = await heartbeatStore(this.#parts.tables.read).pingsOf(id, shownPings);
    return rows.map(({ at, kind, exit_code, duration_ms, source, log }) => ({
      at: timestamp(at),
      kind,
      exit_code,
      duration_ms,
      source,
      log: withLogs ? log : null,
    }));
  }

  /** Takes a report; it is on disk when this resolves. */
  async ping(token: string, { kind, exitCode, source, log }: Signal): Promise<void> {
    const { tables, clock } = this.#parts;
    const row = await tables.write(async (tx) => {
      const store = heartbeatStore(tx);
      const before =
        (await store.byDigest(digestOf(token))) ??
        ((): never => {
          throw errors.unknown_address();
        })();
      const at = Math.floor(clock.now());
      const { started_at: startedAt } = before;
      await store.addPing({
        heartbeat_id: before.id,
        at,
        kind,
        exit_code: exitCode,
        duration_ms: kind === 'start' || startedAt === null ? null : Math.max(0, at - startedAt),
        source,
        log,
      });
      return await store.update(before.id, {
        last_ping_at: at,
        ...(kind === 'start'
          ? { started_at: at }
          : { started_at: null, counted_from: at, failure: failureOf(kind, exitCode) }),
      });
    });
    this.#keep(row);
    await this.tick();
  }

  /** Notices who is late, and writes changes down before they are shown. */
  async tick(): Promise<void> {
    const { clock, tables, write } = this.#parts;
    const now = Math.floor(clock.now());
    const changed = [...this.#rows.values()].flatMap((row) => {
      const standing = this.#standing(row);
      return row.paused === 1 || standing.state === row.state ? [] : [{ row, standing }];
    });
    if (changed.length === 0) {
      return;
    }
    await tables.write(async (tx) => {
      for (const { row, standing } of changed) {
        const cause = standing.state === 'down' ? standing.cause : null;
        this.#keep(
          await heartbeatStore(tx).update(row.id, {
            state: standing.state,
            state_since: now,
            cause,
          }),
        );
      }
    });
    await write(changed.flatMap(({ row }) => this.#samplesOf(this.#rows.get(row.id)!)));
  }

  /** Repeats all states for the rules, and notes that svc is running. */
  async repeat(): Promise<void> {
    const { clock, tables, write } = this.#parts;
    await tables.write((tx) => heartbeatStore(tx).noteAlive(Math.floor(clock.now())));
    await write([...this.#rows.values()].flatMap((row) => this.#samplesOf(row)));
  }

  #samplesOf(row: HeartbeatRow): readonly SampleRow[] {
    if (row.paused === 1 || row.state === 'waiting') {
      return [];
    }
    const time = this.#parts.clock.now();
    const labels = { heartbeat: row.name };
    return [
      {
        labels: { __name__: 'svc_heartbeat_up', ...labels },
        time,
        value: row.state === 'down' ? 0 : 1,
      },
      ...(row.last_ping_at === null
        ? []
        : [
            {
              labels: { __name__: 'svc_heartbeat_last_seconds', ...labels },
              time,
              value: row.last_ping_at / 1_000,
            },
          ]),
    ];
  }

  #standing(row: HeartbeatRow): Standing {
    return standingAt(
      paceOf(row),
      {
        countedFrom: row.counted_from,
        startedAt: row.started_at,
        failure: row.failure,
      },
      this.#parts.clock.now(),
    );
  }

  #row(name: string): HeartbeatRow {
    return [...this.#rows.values()].find((row) => row.name === name) ?? missing(name);
  }

  #keep(row: HeartbeatRow): void {
    this.#rows.set(row.id, row);
  }

  #urlOf(token: string): string {
    return `${this.#parts.publicUrl().replace(/\/$/, '')}/hb/${token}`;
  }

  #shown(row: HeartbeatRow): HeartbeatShown {
    const { name, period_s, cron, time_zone, grace_s } = row;
    const { expectedAt } = this.#standing(row);
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

const failureOf = (kind: Signal['kind'], exitCode: number | null): string | null =>
  kind !== 'fail'
    ? null
    : `the job reported ${exitCode === null ? 'a failure' : `exit code ${exitCode}`}`;

const paceOf = (row: Pick<HeartbeatRow, 'period_s' | 'cron' | 'time_zone' | 'grace_s'>): Pace => ({
  periodMs: row.period_s === null ? null : row.period_s * 1_000,
  cron: row.cron,
  timeZone: row.time_zone,
  graceMs: row.grace_s * 1_000,
});

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

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const placeOf = (id: number) => ({
  table: 'heartbeats_heartbeats',
  row: String(id),
  column: 'token',
});

const missing = (name: string): never => {
  throw errors.unknown({ name });
};
