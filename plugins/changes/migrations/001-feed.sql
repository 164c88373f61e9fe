CREATE TABLE changes_feed (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  summary TEXT NOT NULL,
  actor TEXT,
  device_id TEXT,
  edge_id TEXT,
  service TEXT,
  link TEXT,
  labels TEXT NOT NULL,
  noted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_feed_time ON changes_feed (at, id);
CREATE INDEX changes_feed_device ON changes_feed (device_id, at);

-- What was seen last of each thing that is watched: another value is a change, also when svc was down meanwhile.
CREATE TABLE changes_seen (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
