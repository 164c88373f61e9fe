import { createHash } from 'node:crypto';

import type { SampleRow } from 'svc/contracts/metricsdb';
import { type Clock, type Tables, timestamp } from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import { countedAfterAway, paceOf, type Standing, standingAt } from './heartbeat/heartbeat.ts';
import type { PingShown } from './heartbeat/heartbeat-schema.ts';
import {
  type HeartbeatRow,
  heartbeatStore,
  type HeartbeatTables,
} from './heartbeat/heartbeat-store.ts';

export interface ReportsParts {
  readonly tables: Tables<HeartbeatTables>;
  readonly clock: Clock;
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

const shownPings = 100;

/** Reports of all jobs, and how each job stands by them. */
export class Reports {
  readonly #parts: ReportsParts;
  readonly #rows = new Map<number, HeartbeatRow>();

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  get(name: string): HeartbeatRow | undefined {
    return [...this.#rows.values()].find((row) => row.name === name);
  }

  list(): readonly HeartbeatRow[] {
    return [...this.#rows.values()];
  }

  /** Takes a heartbeat in as it is now. */
  put(row: HeartbeatRow): void {
    this.#rows.set(row.id, row);
  }

  /** Ends the series of a heartbeat that is paused. */
  async rest({ name }: HeartbeatRow): Promise<void> {
    await this.#parts.end(name);
  }

  async remove({ id, name }: HeartbeatRow): Promise<void> {
    this.#rows.delete(id);
    await this.#parts.end(name);
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
        this.put(
          counted === row.counted_from && startedAt === row.started_at
            ? row
            : await store.update(row.id, { counted_from: counted, started_at: startedAt }),
        );
      }
      await store.noteAlive(until);
    });
  }

  /** Returns the last reports; their logs only for whoever may edit heartbeats. */
  async pings({ id }: HeartbeatRow, withLogs: boolean): Promise<PingShown[]> {
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
    this.put(row);
    await this.tick();
  }

  /** Notices who is late, and writes changes down before they are shown. */
  async tick(): Promise<void> {
    const { clock, tables, write } = this.#parts;
    const now = Math.floor(clock.now());
    const changed = [...this.#rows.values()].flatMap((row) => {
      const standing = this.standing(row);
      return row.paused === 1 || standing.state === row.state ? [] : [{ row, standing }];
    });
    if (changed.length === 0) {
      return;
    }
    await tables.write(async (tx) => {
      for (const { row, standing } of changed) {
        const cause = standing.state === 'down' ? standing.cause : null;
        this.put(
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

  /** Returns how a job stands at this moment. */
  standing(row: HeartbeatRow): Standing {
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
}

const failureOf = (kind: Signal['kind'], exitCode: number | null): string | null =>
  kind !== 'fail'
    ? null
    : `the job reported ${exitCode === null ? 'a failure' : `exit code ${exitCode}`}`;

export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
