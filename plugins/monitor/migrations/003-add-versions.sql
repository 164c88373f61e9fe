-- What users had put on a dashboard after each change, and who made it; empty content: it was deleted.
CREATE TABLE monitor_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL,
  version INTEGER NOT NULL,
  author TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  content TEXT NOT NULL,
  UNIQUE (uid, version)
) STRICT;
