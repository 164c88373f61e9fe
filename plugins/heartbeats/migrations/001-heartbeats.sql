-- Jobs that report to an address of their own, and when they are expected to.
CREATE TABLE heartbeats_heartbeats (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  -- SHA-256 of the secret in its address, by which it is found.
  token_digest TEXT NOT NULL UNIQUE,
  -- The secret, sealed: whoever may edit heartbeats sees the address again.
  token TEXT NOT NULL,
  -- Seconds between two reports; null: the cron expression says when.
  period_s INTEGER,
  cron TEXT,
  time_zone TEXT NOT NULL,
  grace_s INTEGER NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'waiting',
  state_since INTEGER NOT NULL,
  cause TEXT,
  -- Why the last run failed; null: it did not.
  failure TEXT,
  -- From when on the next report is expected: the last one, or the end of a time in which svc was away.
  counted_from INTEGER,
  -- Start of a run that has not ended yet.
  started_at INTEGER,
  last_ping_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Reports, newest last; bounded for each heartbeat.
CREATE TABLE heartbeats_pings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  heartbeat_id INTEGER NOT NULL REFERENCES heartbeats_heartbeats (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  -- success, start or fail.
  kind TEXT NOT NULL,
  exit_code INTEGER,
  -- Time since the start of the run; null: no start was reported.
  duration_ms INTEGER,
  source TEXT,
  log TEXT
) STRICT;
CREATE INDEX heartbeats_pings_of ON heartbeats_pings (heartbeat_id, id);

-- The last time at which svc was certainly running.
CREATE TABLE heartbeats_alive (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;
