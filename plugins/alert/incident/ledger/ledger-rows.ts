import { type Kysely, type QueryResult, type RawBuilder, sql } from 'kysely';
import { nextTurn } from 'svc/flow';

import type { Instance } from '../../instance/instance.ts';
import type { Incident } from './incident.ts';
import type { EventRow, IncidentRow, IncidentTables, InstanceRow } from './tables.ts';

type Db = Kysely<IncidentTables>;

export const incidentOf = ({ told_seq: seq, told_at: at, ...row }: IncidentRow): Incident => ({
  ...row,
  notified_seq: seq,
  notified_at: at,
  asked: row.asked === 1,
  labels: JSON.parse(row.labels) as Incident['labels'],
  annotations: JSON.parse(row.annotations) as Incident['annotations'],
  pins: JSON.parse(row.pins) as number[],
  fires: JSON.parse(row.fires) as number[],
  marks: JSON.parse(row.marks) as Incident['marks'],
});

export const rowOf = ({
  notified_seq: seq,
  notified_at: at,
  ...incident
}: Incident): IncidentRow => ({
  ...incident,
  told_seq: seq,
  told_at: at,
  asked: incident.asked ? 1 : 0,
  labels: JSON.stringify(incident.labels),
  annotations: JSON.stringify(incident.annotations),
  pins: JSON.stringify(incident.pins),
  fires: JSON.stringify(incident.fires),
  marks: JSON.stringify(incident.marks),
});

export const instanceOf = (row: InstanceRow): Instance => ({
  key: row.dedupe_key,
  group: row.incident_key,
  scopeId: row.scope_id,
  deviceId: row.device_id,
  labels: JSON.parse(row.labels) as Instance['labels'],
  phase: row.phase,
  legs: JSON.parse(row.legs) as (number | null)[],
  since: row.since,
  startedAt: row.started_at,
  clearedAt: row.cleared_at,
  notified: row.notified === 1,
  reading: { value: row.value, worst: row.worst, seenAt: row.seen_at },
});

/** When an instance left its incident, by the wall, and whether a notification has yet to name it as gone. */
export interface Leaving {
  readonly at: number;
  readonly isNamed: boolean;
}

export const instanceRowOf = (
  ruleId: number,
  instance: Instance,
  leaving?: Leaving,
): InstanceRow => ({
  dedupe_key: instance.key,
  rule_id: ruleId,
  incident_key: instance.group,
  scope_id: instance.scopeId,
  device_id: instance.deviceId,
  labels: JSON.stringify(instance.labels),
  phase: instance.phase,
  legs: JSON.stringify(instance.legs),
  since: instance.since,
  started_at: instance.startedAt,
  cleared_at: instance.clearedAt,
  notified: instance.notified ? 1 : 0,
  value: instance.reading.value,
  worst: instance.reading.worst,
  seen_at: instance.reading.seenAt,
  resolved_at: leaving?.at ?? null,
  unnamed: leaving === undefined || leaving.isNamed ? 0 : 1,
});

export const incidentColumns = [
  'dedupe_key',
  'rule_id',
  'rule_key',
  'rule_name',
  'severity',
  'status',
  'scope_type',
  'scope_id',
  'device_id',
  'lead',
  'summary',
  'labels',
  'annotations',
  'asked',
  'runbook_url',
  'pins',
  'value',
  'threshold',
  'event_count',
  'told_seq',
  'told_at',
  'fires',
  'marks',
  'fired_at',
  'last_fired_at',
  'acknowledged_at',
  'acknowledged_by',
  'silenced_until',
  'resolved_at',
  'created_at',
  'updated_at',
  'version',
] as const satisfies readonly (keyof IncidentRow)[];

const eventColumns = [
  'incident_id',
  'type',
  'status_after',
  'severity',
  'message',
  'actor_type',
  'actor_id',
  'actor_name',
  'data',
  'delivery_id',
  'created_at',
] as const satisfies readonly (keyof EventRow)[];

const instanceColumns = [
  'dedupe_key',
  'rule_id',
  'incident_key',
  'scope_id',
  'device_id',
  'labels',
  'phase',
  'legs',
  'since',
  'started_at',
  'cleared_at',
  'notified',
  'value',
  'worst',
  'seen_at',
  'resolved_at',
  'unnamed',
] as const satisfies readonly (keyof InstanceRow)[];

type Column = keyof IncidentRow | keyof EventRow | keyof InstanceRow;

/** Columns of all three tables that are no text. */
const numbers: ReadonlyMap<Column, 'integer' | 'real'> = new Map([
  ...(['value', 'worst', 'threshold'] as const).map((column) => [column, 'real'] as const),
  ...(
    [
      ...(['id', 'rule_id', 'asked', 'event_count', 'told_seq', 'told_at', 'fired_at'] as const),
      ...(['last_fired_at', 'acknowledged_at', 'silenced_until', 'resolved_at'] as const),
      ...(['created_at', 'updated_at', 'version', 'incident_id', 'since', 'started_at'] as const),
      ...(['cleared_at', 'notified', 'seen_at', 'unnamed'] as const),
    ] as const
  ).map((column) => [column, 'integer'] as const),
]);

/**
 * Builds a statement for many rows whose text never varies with their number: the rows come as one
 * JSON parameter. With `key`, the rows replace those with the same key. The names are constants of
 * this file.
 */
function bulk<R>(
  table: keyof IncidentTables,
  columns: readonly (keyof R & Column)[],
  rows: readonly R[],
  key?: keyof R & Column,
): RawBuilder<unknown> {
  const names = columns.join(', ');
  const values = columns.map((column, at) =>
    numbers.has(column) ? `cast(value ->> ${at} as ${numbers.get(column)!})` : `value ->> ${at}`,
  );
  const json = JSON.stringify(rows.map((row) => columns.map((column) => row[column])));
  const insert = `insert into ${table} (${names}) select ${values.join(', ')} from json_each(`;
  const replaced = columns.filter((column) => column !== key);
  const replace = `where true on conflict (${key}) do update set ${replaced.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  return sql`${sql.raw(insert)}${json}) ${sql.raw(key === undefined ? '' : replace)}`;
}

/** Stores incidents that were never stored, and answers their ids by key. */
export async function insertIncidents(
  tx: Db,
  rows: readonly IncidentRow[],
): Promise<ReadonlyMap<string, number>> {
  const made = await sql<{
    id: number;
    dedupe_key: string;
  }>`${bulk('alert_incidents', incidentColumns, rows)} returning id, dedupe_key`.execute(tx);
  return new Map(made.rows.map(({ id, dedupe_key: key }) => [key, id]));
}

/** Returns whether another writer has changed or removed any of these, by id. */
export async function changedIncidents(
  tx: Db,
  versions: ReadonlyMap<number, number>,
): Promise<boolean> {
  const found = await sql<{
    same: number;
  }>`select count(*) as same from json_each(${JSON.stringify([...versions])}) as known
    join alert_incidents on alert_incidents.id = cast(known.value ->> 0 as integer) and version = cast(known.value ->> 1 as integer)`.execute(
    tx,
  );
  return found.rows[0]!.same !== versions.size;
}

export async function replaceIncidents(tx: Db, rows: readonly IncidentRow[]): Promise<void> {
  await bulk('alert_incidents', ['id', ...incidentColumns], rows, 'id').execute(tx);
}

export async function insertEvents(tx: Db, rows: readonly Omit<EventRow, 'id'>[]): Promise<void> {
  await bulk('alert_events', eventColumns, rows).execute(tx);
}

export async function replaceInstances(tx: Db, rows: readonly InstanceRow[]): Promise<void> {
  await bulk('alert_instances', instanceColumns, rows, 'dedupe_key').execute(tx);
}

export async function removeInstances(tx: Db, keys: readonly string[]): Promise<void> {
  await sql`delete from alert_instances where dedupe_key in (select value from json_each(${JSON.stringify(keys)}))`.execute(
    tx,
  );
}

/** Returns instances that left and that no notification has named as gone, and those that channels may still believe to fire. */
export async function leaverRows(read: Db): Promise<readonly InstanceRow[]> {
  const found = await sql<InstanceRow>`select alert_instances.* from alert_instances
    where resolved_at is not null and (unnamed = 1 or notified = 1 and incident_key in
      (select dedupe_key from alert_incidents where status = 'resolved' and told_at is not null))
    order by resolved_at`.execute(read);
  return found.rows;
}

/** Stores that those who left these incidents have been named in a notification. */
export async function nameLeavers(tx: Db, groups: readonly string[]): Promise<void> {
  await sql`update alert_instances set unnamed = 0
    where unnamed = 1 and incident_key in (select value from json_each(${JSON.stringify(groups)}))`.execute(
    tx,
  );
}

/** Stores the latest readings of instances whose state is unchanged. */
export async function storeReadings(tx: Db, instances: readonly Instance[]): Promise<void> {
  await writeInParts(instances, async (some) => {
    const json = JSON.stringify(
      some.map(({ key, reading }) => [key, reading.value, reading.worst, reading.seenAt]),
    );
    await sql`update alert_instances set value = cast(read.value ->> 1 as real), worst = cast(read.value ->> 2 as real), seen_at = cast(read.value ->> 3 as integer)
      from json_each(${json}) as read where alert_instances.dedupe_key = read.value ->> 0`.execute(
      tx,
    );
  });
}

export const incidentsById = (read: Db, ids: readonly number[]): Promise<readonly Incident[]> =>
  readInParts(ids, (some) =>
    sql<IncidentRow>`select * from alert_incidents where id in (select cast(value as integer) from json_each(${JSON.stringify(some)}))`.execute(
      read,
    ),
  );

export const incidentsByKey = (read: Db, keys: readonly string[]): Promise<readonly Incident[]> =>
  readInParts(keys, (some) =>
    sql<IncidentRow>`select * from alert_incidents where dedupe_key in (select value from json_each(${JSON.stringify(some)}))`.execute(
      read,
    ),
  );

/** Reads go on in the thread of requests. */
async function readInParts<K>(
  keys: readonly K[],
  read: (some: readonly K[]) => Promise<QueryResult<IncidentRow>>,
): Promise<readonly Incident[]> {
  const found: Incident[] = [];
  for (const [at, some] of [...parts(keys)].entries()) {
    if (at > 0) {
      await nextTurn();
    }
    (await read(some)).rows.forEach((row) => found.push(incidentOf(row)));
  }
  return found;
}

/**
 * Writes rows in parts without waiting for each: the writing thread stays busy, and a batch that
 * exceeds the time limit of a write is rolled back.
 */
export async function writeInParts<T>(
  all: readonly T[],
  write: (some: readonly T[]) => Promise<void>,
): Promise<void> {
  const writes: Promise<void>[] = [];
  for (const [at, some] of [...parts(all)].entries()) {
    if (at > 0) {
      await nextTurn();
    }
    const own = write(some);
    // It fails all of them below, not this process before that.
    own.catch(() => undefined);
    writes.push(own);
  }
  await Promise.all(writes);
}

/** Max rows read or serialized at a time before requests get their turn. */
const maxAtOnce = 200;

export function* parts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += maxAtOnce) {
    yield all.slice(from, from + maxAtOnce);
  }
}
