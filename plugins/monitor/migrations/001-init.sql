-- Ids of panels are never used twice: the trail names them after they are gone.
CREATE TABLE monitor_panels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  dashboard_uid TEXT NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('timeseries', 'stat', 'gauge', 'table', 'logs')),
  query TEXT NOT NULL,
  legend TEXT NOT NULL,
  unit TEXT NOT NULL,
  thresholds TEXT NOT NULL,
  x INTEGER NOT NULL,
  y INTEGER NOT NULL,
  w INTEGER NOT NULL,
  h INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX monitor_panels_dashboard ON monitor_panels (dashboard_uid, id);

-- Title and variables of a dashboard that was taken over; one that only has panels needs no row.
CREATE TABLE monitor_dashboards (
  uid TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  variables TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
