-- Ids of channels are never used twice: rules and outcomes name them after they are gone.
CREATE TABLE notify_channels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Names the row where its secrets are sealed.
  ref TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  channel_type TEXT NOT NULL,
  -- The setting that holds its address; NULL: the address is in this row.
  standing TEXT UNIQUE,
  endpoint TEXT,
  secret TEXT,
  endpoint_shown TEXT NOT NULL,
  match_severity_min TEXT NOT NULL CHECK (match_severity_min IN ('', 'info', 'warning', 'critical')),
  match_scope_types TEXT NOT NULL,
  match_labels TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  send_resolved INTEGER NOT NULL CHECK (send_resolved IN (0, 1)),
  template TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- What sending has come to; apart, so that it is no new version of the channel.
CREATE TABLE notify_states (
  channel_id INTEGER PRIMARY KEY REFERENCES notify_channels (id) ON DELETE CASCADE,
  last_sent_at INTEGER,
  last_error TEXT,
  last_error_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  degraded_at INTEGER,
  degraded_reason TEXT,
  -- The platform takes nothing before.
  blocked_until INTEGER,
  -- When the last tries were, as JSON: what the limits of the platform count.
  recent TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE notify_notices (
  id TEXT PRIMARY KEY,
  incident_id INTEGER NOT NULL,
  fire_seq INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('firing', 'resolved', 'reminder')),
  -- JSON; emptied when everything about it has ended.
  body TEXT NOT NULL,
  accepted_at INTEGER NOT NULL
) STRICT;

CREATE INDEX notify_notices_incident ON notify_notices (incident_id, fire_seq);

-- One row for each notice and channel, and for each digest and test.
CREATE TABLE notify_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  notice_id TEXT REFERENCES notify_notices (id),
  channel_id INTEGER NOT NULL,
  channel_name TEXT NOT NULL,
  incident_id INTEGER NOT NULL,
  fire_seq INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('firing', 'resolved', 'reminder', 'digest', 'test')),
  severity INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'folded')),
  -- The digest it goes with.
  digest INTEGER,
  -- Whether the channel has it, by itself or in a digest; and whether it may have it, because a try got no answer.
  got INTEGER NOT NULL DEFAULT 0,
  unclear INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL DEFAULT 0,
  -- Who is sending it: process, then generation.
  owner TEXT,
  error TEXT,
  accepted_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- Whether its outcome was told: to the source of notices, and as an event.
  recorded INTEGER NOT NULL DEFAULT 0,
  announced INTEGER NOT NULL DEFAULT 0,
  UNIQUE (notice_id, channel_id)
) STRICT;

CREATE INDEX notify_deliveries_open ON notify_deliveries (channel_id, seq) WHERE state IN ('queued', 'sending');
CREATE INDEX notify_deliveries_incident ON notify_deliveries (incident_id, fire_seq, channel_id);
CREATE INDEX notify_deliveries_digest ON notify_deliveries (digest) WHERE digest IS NOT NULL;
CREATE INDEX notify_deliveries_unrecorded ON notify_deliveries (seq) WHERE finished_at IS NOT NULL AND recorded = 0;
CREATE INDEX notify_deliveries_unannounced ON notify_deliveries (seq) WHERE finished_at IS NOT NULL AND announced = 0;
CREATE INDEX notify_deliveries_finished ON notify_deliveries (finished_at) WHERE finished_at IS NOT NULL;
