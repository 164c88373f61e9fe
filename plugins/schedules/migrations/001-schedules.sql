CREATE TABLE schedules_schedules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The person who made it, and as whom it runs.
  owner INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- NULL: the coordinator chooses.
  agent TEXT,
  question TEXT NOT NULL,
  starts_on TEXT NOT NULL CHECK (starts_on IN ('cron', 'incident', 'deploy', 'agent_offline')),
  cron TEXT,
  time_zone TEXT,
  severity_min TEXT,
  service TEXT,
  deliver_to TEXT NOT NULL CHECK (deliver_to IN ('timeline', 'channel', 'document')),
  channel_ids TEXT NOT NULL,
  -- NULL: as the settings have it.
  tokens_per_day INTEGER,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'stopped')),
  -- Why it is not active.
  because TEXT,
  -- Runs that failed since the last one that did not.
  failures INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  skipped_because TEXT,
  active_since INTEGER NOT NULL,
  next_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT;

CREATE INDEX schedules_due ON schedules_schedules (next_at) WHERE state = 'active' AND next_at IS NOT NULL;

CREATE TABLE schedules_runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Also the id of the agent's run, derived from schedule and slot.
  id TEXT NOT NULL UNIQUE,
  schedule_id INTEGER NOT NULL REFERENCES schedules_schedules (id) ON DELETE CASCADE,
  -- What it is of: a time, or a firing, a change, an outage.
  slot TEXT NOT NULL,
  slot_at INTEGER NOT NULL,
  -- What may start one run within the minimum interval, such as one incident.
  subject TEXT NOT NULL,
  about TEXT NOT NULL,
  late_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'approval', 'done', 'failed')),
  session_id TEXT NOT NULL,
  agent TEXT,
  error TEXT,
  -- Where the answer is, for people.
  delivered TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  UNIQUE (schedule_id, slot)
) STRICT;

CREATE INDEX schedules_runs_of ON schedules_runs (schedule_id, seq);
CREATE INDEX schedules_runs_open ON schedules_runs (schedule_id) WHERE state IN ('waiting', 'running', 'approval');
