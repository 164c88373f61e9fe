import { timestamp } from 'svc/sdk';

import type { Notice, NoticeIncident } from '../../notify/contract.ts';
import type { Incident } from './incident.ts';

/** What channels are told of an incident. */
export function noticeOf(kind: Notice['kind'], incident: Incident): Notice {
  const { id, event_count: seq, version, pins } = incident;
  // There are several reminders of one firing; each is of another version of the incident.
  const which = kind === 'reminder' ? `reminder-${version}` : kind;
  return { id: `incident-${id}-${seq}-${which}`, kind, fire_seq: seq, incident: noticeIncidentOf(incident), pins };
}

export const noticeIncidentOf = (incident: Incident): NoticeIncident => ({
  id: incident.id,
  rule_key: incident.rule_key,
  rule_name: incident.rule_name,
  severity: incident.severity,
  status: incident.status,
  scope_type: incident.scope_type,
  scope_id: incident.scope_id,
  ...(incident.device_id !== null && { device_id: incident.device_id }),
  summary: incident.summary,
  labels: incident.labels,
  annotations: incident.annotations,
  ...(incident.runbook_url !== '' && { runbook_url: incident.runbook_url }),
  dedupe_key: incident.dedupe_key,
  ...(incident.value !== null && { value: incident.value }),
  ...(incident.threshold !== null && { threshold: incident.threshold }),
  fired_at: timestamp(incident.last_fired_at),
  ...(incident.resolved_at !== null && { resolved_at: timestamp(incident.resolved_at) }),
  event_count: incident.event_count,
});
