-- Links that show a dashboard without an account: as it was when its link was made, until it ends.
CREATE TABLE monitor_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  dashboard_uid TEXT NOT NULL,
  token_digest TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL,
  range_s INTEGER NOT NULL,
  chosen TEXT NOT NULL,
  made_by TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  opened_at INTEGER,
  content TEXT NOT NULL
) STRICT;

CREATE INDEX monitor_links_dashboard ON monitor_links (dashboard_uid);
