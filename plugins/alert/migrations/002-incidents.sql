-- What has fired: one row for each dedupe key, for good or until its retention ends.
CREATE TABLE alert_incidents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  dedupe_key TEXT NOT NULL UNIQUE,
  -- 0: of the evaluator itself.
  rule_id INTEGER NOT NULL,
  rule_key TEXT NOT NULL,
  rule_name TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  status TEXT NOT NULL CHECK (status IN ('open', 'acknowledged', 'silenced', 'resolved')),
  scope_type TEXT NOT NULL CHECK (scope_type IN ('host', 'global', 'monitoring_pipeline')),
  scope_id TEXT NOT NULL,
  device_id TEXT,
  summary TEXT NOT NULL,
  labels TEXT NOT NULL,
  annotations TEXT NOT NULL,
  runbook_url TEXT NOT NULL,
  pins TEXT NOT NULL,
  value REAL,
  threshold REAL,
  -- How often it has fired.
  event_count INTEGER NOT NULL,
  -- The last firing that channels were told of, and when (steady time, as fires and marks have).
  told_seq INTEGER NOT NULL,
  told_at INTEGER,
  -- For dampening: when it was found firing lately. And which gates have said that they held it back.
  fires TEXT NOT NULL,
  marks TEXT NOT NULL,
  fired_at INTEGER NOT NULL,
  last_fired_at INTEGER NOT NULL,
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  silenced_until INTEGER,
  resolved_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX alert_incidents_newest ON alert_incidents (last_fired_at, id);
CREATE INDEX alert_incidents_rule ON alert_incidents (rule_key);
CREATE INDEX alert_incidents_active ON alert_incidents (id) WHERE status <> 'resolved';
CREATE INDEX alert_incidents_over ON alert_incidents (resolved_at) WHERE status = 'resolved';

-- The timeline: one row for each transition or delivery.
CREATE TABLE alert_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  incident_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  status_after TEXT NOT NULL,
  severity TEXT NOT NULL,
  message TEXT NOT NULL,
  actor_type TEXT NOT NULL CHECK (actor_type IN ('system', 'user', 'agent')),
  actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  data TEXT NOT NULL,
  -- One row for each delivery, however often its outcome is told.
  delivery_id TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX alert_events_timeline ON alert_events (incident_id, id);

-- Where each condition stands that is not simply clear; written when that changes. Times are steady.
CREATE TABLE alert_instances (
  dedupe_key TEXT PRIMARY KEY,
  rule_id INTEGER NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('partial', 'pending', 'firing', 'held')),
  -- Since when each condition of the rule breaches, or null, as a JSON list.
  legs TEXT NOT NULL,
  since INTEGER NOT NULL,
  cleared_at INTEGER
) STRICT, WITHOUT ROWID;

-- When the evaluator last was at work, in steady time, and how far the wall has jumped away from that: durations go on
-- over a restart, and promises to people stay.
CREATE TABLE alert_heartbeat (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL,
  drift INTEGER NOT NULL
) STRICT;

-- Mutes by label, and maintenance windows.
CREATE TABLE alert_silences (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  matchers TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  -- JSON, or null when it lasts from start to end.
  recurrence TEXT,
  reason TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX alert_silences_end ON alert_silences (ends_at);
