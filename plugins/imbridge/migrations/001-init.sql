CREATE TABLE imbridge_apps (
  id TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL,
  app_secret TEXT,
  verify_token TEXT,
  encrypt_key TEXT,
  allow_from TEXT NOT NULL,
  default_agent TEXT,
  default_role TEXT NOT NULL,
  locale TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('callback', 'stream')),
  endpoint TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  cursor TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each thing that happened on a platform or is to be told there: what is repeated finds its key taken.
CREATE TABLE imbridge_jobs (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  event_key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('message', 'action', 'tell')),
  conversation TEXT NOT NULL,
  lane TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'waiting', 'done', 'ignored', 'failed')),
  run_id TEXT NOT NULL UNIQUE,
  session_id TEXT,
  sent TEXT,
  -- Of a command that was carried out.
  answer TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  holder TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (app_id, event_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX imbridge_jobs_open ON imbridge_jobs (state, next_at) WHERE ended_at IS NULL;
CREATE INDEX imbridge_jobs_lane ON imbridge_jobs (lane, id) WHERE ended_at IS NULL;
CREATE INDEX imbridge_jobs_ended ON imbridge_jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX imbridge_jobs_conversation ON imbridge_jobs (app_id, conversation, created_at);

-- One session for a thread and a person: what one of them may see, another need not.
CREATE TABLE imbridge_threads (
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  thread TEXT NOT NULL,
  owner TEXT NOT NULL,
  session_id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, thread, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE imbridge_links (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  sender TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, sender)
) STRICT, WITHOUT ROWID;

CREATE INDEX imbridge_links_user ON imbridge_links (user_id, id);

CREATE TABLE imbridge_codes (
  digest TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a button stands for; its token is all that the platform sees.
CREATE TABLE imbridge_actions (
  token TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  deed TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX imbridge_actions_expiry ON imbridge_actions (expires_at);

-- Where an incident was told of, so that its thread can follow it.
CREATE TABLE imbridge_notices (
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  conversation TEXT NOT NULL,
  incident_id INTEGER NOT NULL,
  posted TEXT NOT NULL,
  message TEXT NOT NULL,
  thread TEXT NOT NULL,
  told INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, conversation, incident_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX imbridge_notices_incident ON imbridge_notices (incident_id);
CREATE INDEX imbridge_notices_message ON imbridge_notices (app_id, message);
