import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { RunStatus } from 'svc/contracts/investigate';
import { type DeviceScope, deviceScope, idTexts, type SeenDevices } from 'svc/query';
import type { Verdict } from 'svc/rca';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

export type AssistState = 'none' | 'waiting' | 'running' | 'done' | 'dropped';

export interface RunRow {
  id: number;
  incident_id: number;
  fire_seq: number;
  /** First, second or third look at one firing. */
  look: number;
  started_by: 'alert' | 'person';
  asked_by: string;
  rule_key: string;
  device_id: string | null;
  /** JSON list of those that it looks at, and of no others; null: of all. */
  devices: string | null;
  labels: string;
  fired_at: number;
  status: RunStatus;
  attempts: number;
  assist: AssistState;
  mode: 'deterministic' | 'assisted';
  verdict: Verdict | null;
  summary: string;
  confidence: number | null;
  root_node: string | null;
  engine_version: string | null;
  marks: string;
  report: string | null;
  reason: string | null;
  snapshot_bytes: number;
  created_at: number;
  started_at: number | null;
  ready_at: number | null;
}

export interface FeedbackRow {
  run_id: number;
  person: string;
  name: string;
  verdict: 'right' | 'partly' | 'wrong';
  true_cause: string;
  comment: string;
  at: number;
}

export interface InvestigateTables {
  investigate_runs: RunRow;
  investigate_feedback: FeedbackRow;
}

export type NewRun = Pick<
  RunRow,
  | 'incident_id'
  | 'fire_seq'
  | 'started_by'
  | 'asked_by'
  | 'rule_key'
  | 'device_id'
  | 'labels'
  | 'fired_at'
  | 'created_at'
> &
  Partial<Pick<RunRow, 'devices' | 'look' | 'status' | 'reason' | 'summary' | 'report'>>;

export interface RunFilter {
  readonly incident_id?: number | undefined;
  readonly status?: RunStatus | undefined;
  readonly rule_key?: string | undefined;
}

type Db = Kysely<InvestigateTables>;

/** All SQL of investigations, over what may be read or one transaction. */
export class RunStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  find(id: number, seen: SeenDevices): Promise<RunRow | undefined> {
    return this.#shownTo(seen).selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns the newest run with the same scope. */
  newest(incidentId: number, seen: SeenDevices): Promise<RunRow | undefined> {
    return this.#madeFor(seen)
      .selectAll()
      .where('incident_id', '=', incidentId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  page(
    { incident_id: incident, status, rule_key: rule }: RunFilter,
    page: PageRequest,
    seen: SeenDevices,
  ): Promise<Page<Selectable<RunRow>>> {
    const matching = this.#shownTo(seen)
      .selectAll()
      .$if(incident !== undefined, (is) => is.where('incident_id', '=', incident!))
      .$if(status !== undefined, (is) => is.where('status', '=', status!))
      .$if(rule !== undefined, (is) => is.where('rule_key', '=', rule!));
    return pageOf(matching, 'id', page);
  }

  /** Limits to runs that examined only visible devices, for users with access to some devices. */
  #shownTo(seen: SeenDevices) {
    return this.#db
      .selectFrom('investigate_runs')
      .$if(seen !== undefined, (query) => query.where(within(seen!)));
  }

  /** Limits to runs that examined everything, for internal use. */
  #madeFor(seen: SeenDevices) {
    return this.#db
      .selectFrom('investigate_runs')
      .where(seen === undefined ? sql<boolean>`devices is null` : within(seen));
  }

  /** Undefined when the incident has one that is open, or this firing had that look already. */
  async insert(run: NewRun): Promise<RunRow | undefined> {
    const row = {
      status: 'pending' as const,
      attempts: 0,
      assist: 'none' as const,
      mode: 'deterministic' as const,
      verdict: null,
      summary: '',
      confidence: null,
      devices: null,
      look: 1,
      root_node: null,
      engine_version: null,
      marks: '[]',
      report: null,
      reason: null,
      snapshot_bytes: 0,
      started_at: null,
      ready_at: null,
      ...run,
    };
    const found = await this.#db
      .insertInto('investigate_runs')
      .values(row as never)
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    return found;
  }

  /** Begins one that has not ended; the attempt it is given is what may end it. Undefined: it has ended. */
  async begin(id: number, now: number): Promise<RunRow | undefined> {
    const { rows } = await sql<RunRow>`
      update investigate_runs set status = 'running', attempts = attempts + 1, started_at = ${Math.round(now)}
      where id = ${id} and status in ('pending', 'running') returning *`.execute(this.#db);
    return rows[0];
  }

  /** Ends one without a report, whatever attempt is at it. */
  async giveUp(id: number, reason: string, now: number): Promise<void> {
    await this.#db
      .updateTable('investigate_runs')
      .set({
        status: 'failed',
        reason,
        summary: `The investigation failed: ${reason}`,
        ready_at: Math.round(now),
      })
      .where('id', '=', id)
      .where('status', 'in', ['pending', 'running'])
      .execute();
  }

  /** False when another attempt holds it by now. */
  async end(
    { id, attempts }: Pick<RunRow, 'id' | 'attempts'>,
    change: Partial<RunRow>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('investigate_runs')
      .set(change)
      .where('id', '=', id)
      .where('attempts', '=', attempts)
      .where('status', '=', 'running')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async change(id: number, change: Partial<RunRow>): Promise<void> {
    await this.#db.updateTable('investigate_runs').set(change).where('id', '=', id).execute();
  }

  /** Returns runs that have not ended. */
  open(): Promise<RunRow[]> {
    return this.#db
      .selectFrom('investigate_runs')
      .selectAll()
      .where('status', 'in', ['pending', 'running'])
      .execute();
  }

  async takeAssist(): Promise<RunRow | undefined> {
    const { rows } = await sql<RunRow>`
      update investigate_runs set assist = 'running' where id = (select max(id) from investigate_runs where assist = 'waiting') returning *`.execute(
      this.#db,
    );
    return rows[0];
  }

  assisting(state: AssistState): Promise<RunRow[]> {
    return this.#db
      .selectFrom('investigate_runs')
      .selectAll()
      .where('assist', '=', state)
      .orderBy('id', 'desc')
      .execute();
  }

  async waiting(): Promise<number> {
    const { total } = await this.#db
      .selectFrom('investigate_runs')
      .select((is) => is.fn.countAll<number>().as('total'))
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Incidents that alerts have begun an investigation of since a time: of one rule, and in all. */
  async begunSince(
    since: number,
    ruleKey: string,
  ): Promise<{ readonly ofRule: number; readonly all: number }> {
    const { rows } = await sql<{ all: number; ofRule: number }>`
      select count(*) as "all", count(*) filter (where rule_key = ${ruleKey}) as "ofRule" from investigate_runs
      where started_by = 'alert' and look = 1 and status <> 'skipped' and created_at > ${since}`.execute(
      this.#db,
    );
    return rows[0]!;
  }

  /**
   * The newest of their incidents, begun by alerts since a time, that may be followed by another look: those that have seen no cause, and
   * those that suspect one while a source was too slow to be seen.
   */
  async unexplained(since: number, looks: number): Promise<readonly RunRow[]> {
    const { rows } = await sql<RunRow>`
      select * from investigate_runs r where created_at > ${since} and started_by = 'alert' and devices is null and status = 'ready' and look < ${looks}
        and (
          verdict in ('insufficient_data', 'no_anomaly')
          or (verdict = 'suspected' and exists (select 1 from json_each(report, '$.not_seen') where json_extract(value, '$.reason') = 'timeout'))
        )
        and id = (select max(id) from investigate_runs where incident_id = r.incident_id and devices is null)
      order by id`.execute(this.#db);
    return rows;
  }

  /** Others around a time, those that were really investigated first. */
  async around(
    at: number,
    spanMs: number,
    except: number,
    seen: SeenDevices,
  ): Promise<readonly RunRow[]> {
    return await this.#madeFor(seen)
      .selectAll()
      .where('fired_at', '>=', at - spanMs)
      .where('fired_at', '<=', at + spanMs)
      .where('incident_id', '<>', except)
      .orderBy(sql`status = 'skipped'`)
      .orderBy('id')
      .limit(50)
      .execute();
  }

  /** Returns finished reports, newest first. */
  ready(limit: number, seen: SeenDevices): Promise<RunRow[]> {
    return this.#madeFor(seen)
      .selectAll()
      .where('status', '=', 'ready')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
  }

  /** Returns runs that ended after a time, with a report or in words. */
  endedSince(since: number): Promise<RunRow[]> {
    return this.#db
      .selectFrom('investigate_runs')
      .selectAll()
      .where('status', 'in', ['ready', 'failed'])
      .where('ready_at', '>', since)
      .execute();
  }

  async lastReady(incidentId: number): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('investigate_runs')
      .select('created_at')
      .where('incident_id', '=', incidentId)
      .where('devices', 'is', null)
      .where('status', '=', 'ready')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.created_at;
  }

  feedback(runIds: readonly number[]): Promise<FeedbackRow[]> {
    return this.#db
      .selectFrom('investigate_feedback')
      .selectAll()
      .where(
        'run_id',
        'in',
        sql<number>`(select cast(value as integer) from json_each(${JSON.stringify(runIds)}))`,
      )
      .orderBy('at')
      .execute();
  }

  async tell(row: FeedbackRow): Promise<void> {
    const { verdict, true_cause, comment, at, name } = row;
    await this.#db
      .insertInto('investigate_feedback')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['run_id', 'person'])
          .doUpdateSet({ verdict, true_cause, comment, at, name }),
      )
      .execute();
  }

  /**
   * Returns people's feedback on reports with their confidence; the newest, as many as calibration
   * uses.
   */
  async labelled(
    limit: number,
  ): Promise<readonly { readonly confidence: number; readonly verdict: FeedbackRow['verdict'] }[]> {
    const { rows } = await sql<{ confidence: number; verdict: FeedbackRow['verdict'] }>`
      select cast(json_extract(r.report, '$.confidence.raw') as real) as confidence, f.verdict from investigate_feedback f join investigate_runs r on r.id = f.run_id
      where r.report is not null and json_extract(r.report, '$.confidence.raw') is not null order by f.at desc limit ${limit}`.execute(
      this.#db,
    );
    return rows;
  }

  /** Ids of snapshots with their sizes, newest first. */
  snapshots(): Promise<{ id: number; snapshot_bytes: number; created_at: number }[]> {
    return this.#db
      .selectFrom('investigate_runs')
      .select(['id', 'snapshot_bytes', 'created_at'])
      .where('snapshot_bytes', '>', 0)
      .orderBy('id', 'desc')
      .execute();
  }

  /** Deletes older reports, with their feedback. */
  async removeBefore(at: number): Promise<number> {
    await sql`delete from investigate_feedback where run_id in (select id from investigate_runs where created_at < ${at})`.execute(
      this.#db,
    );
    const { numDeletedRows } = await this.#db
      .deleteFrom('investigate_runs')
      .where('created_at', '<', at)
      .where('status', 'not in', ['pending', 'running'])
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

const within = (scope: DeviceScope): RawBuilder<boolean> =>
  sql<boolean>`(devices is not null and not exists (select 1 from json_each(devices) as own where own.value not in (select value from json_each(${idTexts(scope)}))))`;

/** Returns the device scope of a run. */
export const scopeOfRun = ({ devices }: Pick<RunRow, 'devices'>): SeenDevices =>
  devices === null ? undefined : deviceScope((JSON.parse(devices) as string[]).map(Number));
