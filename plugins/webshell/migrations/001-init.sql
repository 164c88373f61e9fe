-- Ids are never used twice: the trail and the files of recordings name them.
CREATE TABLE webshell_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The process that it belonged to: an open row of another one was left behind by a crash.
  life TEXT NOT NULL,
  user_kind TEXT NOT NULL,
  user_id INTEGER,
  device_id INTEGER NOT NULL,
  edge_id INTEGER NOT NULL,
  remote_user TEXT NOT NULL,
  auth TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  ip TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  bytes_in INTEGER NOT NULL DEFAULT 0,
  bytes_out INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  ended_by TEXT,
  -- recording, complete, interrupted, failed or deleted; NULL where nothing was to be recorded.
  recording_state TEXT,
  recording_key TEXT,
  recording_bytes INTEGER,
  recording_sha256 TEXT,
  recording_ms INTEGER
) STRICT;

CREATE INDEX webshell_sessions_open ON webshell_sessions (id) WHERE ended_at IS NULL;
CREATE INDEX webshell_sessions_recorded ON webshell_sessions (id) WHERE recording_key IS NOT NULL;
CREATE INDEX webshell_sessions_ended ON webshell_sessions (ended_at) WHERE ended_at IS NOT NULL;

-- The key that the SSH server of a device has shown first, or that an administrator has accepted since.
CREATE TABLE webshell_host_keys (
  device_id INTEGER PRIMARY KEY,
  algorithm TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  trusted_at INTEGER NOT NULL,
  -- first_use, or accepted by an administrator.
  trusted_by TEXT NOT NULL,
  -- Another one that was refused last.
  offered_algorithm TEXT,
  offered_fingerprint TEXT,
  offered_at INTEGER
) STRICT;
