-- Links under which colleagues read one answer.
CREATE TABLE chat_shares (
  id TEXT PRIMARY KEY,
  message_id INTEGER NOT NULL UNIQUE REFERENCES chat_messages (id) ON DELETE CASCADE,
  -- `user:7`: who shared it.
  owner TEXT NOT NULL,
  shared_by TEXT NOT NULL,
  -- JSON of the selectors of who shared it: what they saw; NULL: all devices.
  selectors TEXT,
  -- JSON of the organizations whose rows they saw; NULL: all of them.
  orgs TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
