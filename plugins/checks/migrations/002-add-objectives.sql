-- How long an address was under announced maintenance; that time counts neither as up nor as down.
ALTER TABLE checks_uptime ADD COLUMN maintenance_ms INTEGER NOT NULL DEFAULT 0;

-- Objectives for the uptime of a check or of a group of checks.
CREATE TABLE checks_objectives (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  -- Name of the check or of the group; the other one is NULL.
  check_name TEXT,
  group_name TEXT,
  -- Percent of time.
  target REAL NOT NULL,
  days INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
