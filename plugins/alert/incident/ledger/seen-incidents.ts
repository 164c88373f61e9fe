import { type RawBuilder, sql } from 'kysely';
import { idTexts, type DeviceScope, type SeenDevices } from 'svc/query';

import type { Instance } from '../../instance/instance.ts';
import { errors } from './errors.ts';
import type { Incident } from './incident.ts';
import { incidentColumns } from './ledger-rows.ts';
import type { EventRow, IncidentRow } from './tables.ts';

/**
 * Returns the incidents table as users with access to some devices see it. An incident of a host
 * rule belongs to one device, and is visible or not. Any other may span many: it is rebuilt from
 * the visible instances, as if there were no others. Texts that may quote what a store answered
 * about other devices are left out.
 */
export function seenIncidents(scope: DeviceScope): RawBuilder<IncidentRow> {
  const seen = sql`(select value from json_each(${idTexts(scope)}))`;
  const columns = (
    of: Readonly<Partial<Record<keyof IncidentRow, RawBuilder<unknown>>>>,
  ): RawBuilder<unknown> =>
    sql.join(
      (['id', ...incidentColumns] as const).map(
        (name) => sql`${of[name] ?? sql.ref(`incident.${name}`)} as ${sql.ref(name)}`,
      ),
    );
  return sql`(
    select ${columns({
      summary: sql`case incident.asked when 1 then incident.rule_name || ' on device ' || incident.scope_id else incident.summary end`,
      annotations: sql`case incident.asked when 1 then '{}' else incident.annotations end`,
    })} from alert_incidents as incident where incident.scope_type = 'host' and incident.scope_id in ${seen}
    union all
    select ${columns({
      status: sql`case when incident.status = 'resolved' or own.lasting = 0 then 'resolved' else incident.status end`,
      device_id: sql`own.device_id`,
      lead: sql`own.dedupe_key`,
      summary: sql`incident.rule_name || ' on device ' || own.device_id`,
      labels: sql`own.labels`,
      annotations: sql`'{}'`,
      value: sql`own.value`,
      event_count: sql`1`,
      told_seq: sql`0`,
      told_at: sql`null`,
      fires: sql`'[]'`,
      marks: sql`'{}'`,
      fired_at: sql`own.first_at`,
      last_fired_at: sql`own.last_at`,
      acknowledged_by: sql`null`,
      resolved_at: sql`case when own.lasting = 0 then own.over_at else incident.resolved_at end`,
      created_at: sql`own.first_at`,
      updated_at: sql`max(own.last_at, coalesce(own.over_at, 0))`,
      version: sql`0`,
    })}
    from alert_incidents as incident join (
      select *, row_number() over (partition by incident_key order by resolved_at is not null, phase = 'held', dedupe_key) as place,
        min(started_at) over (partition by incident_key) as first_at, max(started_at) over (partition by incident_key) as last_at,
        count(*) filter (where resolved_at is null) over (partition by incident_key) as lasting, max(resolved_at) over (partition by incident_key) as over_at
      from alert_instances where phase in ('firing', 'held') and device_id in ${seen} and dedupe_key <> incident_key
    ) as own on own.incident_key = incident.dedupe_key and own.place = 1
    where incident.scope_type <> 'host'
  )`;
}

/**
 * Returns whether an instance belongs to a visible device. One that represents all series of its
 * incident carries the value of the worst of them, so it belongs to a device only if the device is
 * its scope.
 */
export const isSeen = (
  { key, group, scopeId, deviceId }: Pick<Instance, 'key' | 'group' | 'scopeId' | 'deviceId'>,
  seen: SeenDevices,
): boolean =>
  seen === undefined ||
  (deviceId !== null && seen.ids.has(Number(deviceId)) && (key !== group || scopeId === deviceId));

/** The same for rows. */
export const whereSeen = (scope: DeviceScope): RawBuilder<boolean> =>
  sql<boolean>`(device_id in (select value from json_each(${idTexts(scope)})) and (dedupe_key <> incident_key or scope_id = device_id))`;

export function membersSeen(
  members: ReadonlyMap<string, Instance>,
  seen: SeenDevices,
): ReadonlyMap<string, Instance> {
  return seen === undefined
    ? members
    : new Map([...members].filter(([, member]) => isSeen(member, seen)));
}

/**
 * Refuses actions on incidents that span several devices: an action or a notice would affect all of
 * them.
 */
export function assertOfOneDevice(
  { id, scope_type: type }: Pick<Incident, 'id' | 'scope_type'>,
  seen: SeenDevices,
): void {
  if (seen !== undefined && type !== 'host') {
    throw errors.not_of_one_device({ id });
  }
}

/** Rows of a timeline that are shown: of an incident that may be of many devices those alone that name some that are seen. */
export const rowsSeen = (
  scope: DeviceScope,
  { scope_type: type }: Pick<Incident, 'scope_type'>,
): RawBuilder<boolean> =>
  type === 'host'
    ? sql<boolean>`type <> 'ai_initial_diagnosis'`
    : sql<boolean>`(type = 'instances_changed' and exists (
        select 1 from json_each(data, '$.joined') as one where one.value ->> '$.device_id' in (select value from json_each(${idTexts(scope)}))
        union all
        select 1 from json_each(data, '$.left') as one where one.value ->> '$.device_id' in (select value from json_each(${idTexts(scope)}))))`;

type Labels = Readonly<Record<string, string>>;

export function rowSeen(
  row: EventRow,
  { ids }: DeviceScope,
  {
    scope_type: type,
    rule_name: rule,
    asked,
  }: Pick<Incident, 'scope_type' | 'rule_name' | 'asked'>,
): EventRow {
  const data = JSON.parse(row.data) as {
    readonly asked?: true;
    readonly joined?: readonly Labels[];
    readonly left?: readonly Labels[];
  };
  if (type === 'host') {
    return row.type === 'firing' && (asked || data.asked === true)
      ? { ...row, message: rule }
      : row;
  }
  const [joined, left] = [data.joined, data.left].map((all = []) =>
    all.filter(({ device_id: device }) => ids.has(Number(device))),
  );
  const shown = { joined, joined_count: joined!.length, left, left_count: left!.length };
  return {
    ...row,
    message: `${joined!.length} joined, ${left!.length} left`,
    data: JSON.stringify(shown),
  };
}
