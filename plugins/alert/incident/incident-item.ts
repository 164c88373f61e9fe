import { timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { NameOfDevice } from '../template/rendering.ts';
import type { Measured } from './ledger/members.ts';
import type { EventRow } from './ledger/tables.ts';
import type { EventItem, IncidentItem } from './schema.ts';

const whenOrNull = (at: number | null): string | null => (at === null ? null : timestamp(at));

export const shownIncident = (
  incident: Measured,
  staleSince: number | null,
  nameOf: NameOfDevice,
): Static<typeof IncidentItem> => {
  const deviceName = incident.device_id === null ? null : nameOf(incident.device_id);
  return {
    id: incident.id,
    rule: incident.rule_key,
    rule_id: incident.rule_id <= 0 ? null : incident.rule_id,
    rule_name: incident.rule_name,
    severity: incident.severity,
    status: incident.status,
    scope_type: incident.scope_type,
    scope_id: incident.scope_id,
    device_id: incident.device_id,
    device_name: deviceName,
    summary: named(incident, deviceName),
    labels: { ...incident.labels },
    annotations: { ...incident.annotations },
    runbook_url: incident.runbook_url,
    dedupe_key: incident.dedupe_key,
    value: incident.value,
    worst_value: incident.worst_value,
    firing_instances: incident.firing_instances,
    threshold: incident.threshold,
    event_count: incident.event_count,
    fired_at: timestamp(incident.fired_at),
    last_fired_at: timestamp(incident.last_fired_at),
    acknowledged_at: whenOrNull(incident.acknowledged_at),
    acknowledged_by: incident.acknowledged_by,
    silenced_until: whenOrNull(incident.silenced_until),
    stale_since: whenOrNull(staleSince),
    resolved_at: whenOrNull(incident.resolved_at),
    created_at: timestamp(incident.created_at),
    updated_at: timestamp(incident.updated_at),
  };
};

/** Returns the summary; where svc made it with the number of the device, that becomes the name. */
const named = ({ summary, device_id: id }: Measured, name: string | null): string =>
  name === null
    ? summary
    : summary.replace(/ on device (\d+)(?!\w)/, (whole, found) =>
        found === id ? ` on ${name}` : whole,
      );

export const shownEvent = (row: EventRow): Static<typeof EventItem> => ({
  id: row.id,
  incident_id: row.incident_id,
  type: row.type,
  status_after: row.status_after,
  severity: row.severity,
  message: row.message,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  data: JSON.parse(row.data) as Record<string, unknown>,
  created_at: timestamp(row.created_at),
});
