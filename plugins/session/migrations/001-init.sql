CREATE TABLE session_keys (
  kid TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One login and all that was refreshed from it.
CREATE TABLE session_sessions (
  id TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL,
  -- Of the account when it signed in: a session does not outlive a change of password, role or status.
  version INTEGER NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  refreshed_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX session_sessions_user ON session_sessions (user_id, id);
CREATE INDEX session_sessions_ended ON session_sessions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE session_refresh_tokens (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session_sessions (id) ON DELETE CASCADE,
  -- The token it was given for; none for the first of a session.
  parent_id INTEGER,
  hash TEXT NOT NULL UNIQUE,
  issued_at INTEGER NOT NULL,
  spent_at INTEGER,
  -- Fingerprint of the client that spent it.
  spent_by TEXT
) STRICT;

CREATE INDEX session_refresh_tokens_session ON session_refresh_tokens (session_id, id);

-- Ids are never used twice: the trail names tokens after they are gone.
CREATE TABLE session_api_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  actions TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE INDEX session_api_tokens_user ON session_api_tokens (user_id, id);

-- At most one: the token that makes the first administrator.
CREATE TABLE session_setup (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
