-- Which migrations of which plugin have been applied, and by whom.
CREATE TABLE core_migrations (
  plugin TEXT NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  app_version TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  PRIMARY KEY (plugin, number)
) STRICT, WITHOUT ROWID;

-- Messages that were enqueued in the transaction of the change they tell of.
CREATE TABLE core_outbox (
  id TEXT NOT NULL PRIMARY KEY,
  topic TEXT NOT NULL,
  key TEXT,
  payload TEXT NOT NULL,
  enqueued_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  lease_until INTEGER,
  state TEXT NOT NULL,
  last_error TEXT
) STRICT;

CREATE INDEX core_outbox_due ON core_outbox (state, topic, due_at);
CREATE INDEX core_outbox_order ON core_outbox (topic, key, id);

-- Replies to requests that carried an Idempotency-Key.
CREATE TABLE core_idempotency (
  key TEXT NOT NULL,
  principal TEXT NOT NULL,
  route TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER,
  headers TEXT,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (principal, route, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX core_idempotency_age ON core_idempotency (created_at);
