import type { Severity } from 'svc/contracts/notify';

import type { ScopeType } from '../../rule/rule.ts';
import type { Actor, EventType, Status } from './incident.ts';

export interface IncidentTables {
  alert_incidents: IncidentRow;
  alert_events: EventRow;
  alert_instances: InstanceRow;
  alert_heartbeat: { id: number; at: number; drift: number };
}

export interface IncidentRow {
  id: number;
  dedupe_key: string;
  rule_id: number;
  rule_key: string;
  rule_name: string;
  severity: Severity;
  status: Status;
  scope_type: ScopeType;
  scope_id: string;
  device_id: string | null;
  lead: string;
  summary: string;
  labels: string;
  annotations: string;
  asked: number;
  runbook_url: string;
  pins: string;
  value: number | null;
  threshold: number | null;
  event_count: number;
  told_seq: number;
  told_at: number | null;
  fires: string;
  marks: string;
  fired_at: number;
  last_fired_at: number;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  silenced_until: number | null;
  resolved_at: number | null;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface EventRow {
  id: number;
  incident_id: number;
  type: EventType;
  status_after: Status;
  severity: Severity;
  message: string;
  actor_type: Actor['type'];
  actor_id: string;
  actor_name: string;
  data: string;
  delivery_id: string | null;
  created_at: number;
}

export interface InstanceRow {
  /** Dedupe key of the instance; the incident's is in `incident_key`. */
  dedupe_key: string;
  rule_id: number;
  incident_key: string;
  scope_id: string;
  device_id: string | null;
  labels: string;
  phase: 'partial' | 'pending' | 'firing' | 'held';
  legs: string;
  since: number;
  started_at: number;
  cleared_at: number | null;
  notified: number;
  value: number | null;
  worst: number | null;
  seen_at: number;
  resolved_at: number | null;
  /** 1: it has left, and no notification has named it as gone. */
  unnamed: number;
}
