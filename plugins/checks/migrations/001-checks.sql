-- Checks: what is requested, from where, how often, and what is known of it.
CREATE TABLE checks_checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  -- JSON: everything that a person has set and that is no secret.
  definition TEXT NOT NULL,
  -- JSON, sealed: values of headers and the bodies that are sent; null: there are none.
  secrets TEXT,
  paused INTEGER NOT NULL DEFAULT 0,
  -- Verdict of the last round, and since when it is that.
  state TEXT NOT NULL DEFAULT 'waiting',
  state_since INTEGER NOT NULL,
  cause TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Changes of the verdict, newest last; bounded for each check.
CREATE TABLE checks_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  check_id INTEGER NOT NULL REFERENCES checks_checks (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  cause TEXT,
  -- JSON: places that said so.
  places TEXT NOT NULL
) STRICT;
CREATE INDEX checks_changes_of ON checks_changes (check_id, id);

-- Time that a check spent in each state, by hour and by day of UTC. Time that is in none of them: svc was not running, or the check was paused.
CREATE TABLE checks_uptime (
  check_id INTEGER NOT NULL REFERENCES checks_checks (id) ON DELETE CASCADE,
  -- hour or day.
  span TEXT NOT NULL,
  begins_at INTEGER NOT NULL,
  up_ms INTEGER NOT NULL,
  down_ms INTEGER NOT NULL,
  stale_ms INTEGER NOT NULL,
  PRIMARY KEY (check_id, span, begins_at)
) STRICT, WITHOUT ROWID;
