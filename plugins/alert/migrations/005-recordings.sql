-- Rules whose answers are written back to the metrics store under a name of their own.
CREATE TABLE alert_recordings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Rules of a group are evaluated one after another, in the order of their positions.
  group_name TEXT NOT NULL,
  position INTEGER NOT NULL,
  record TEXT NOT NULL,
  expr TEXT NOT NULL,
  labels TEXT NOT NULL,
  -- 0: as alert rules that say nothing themselves.
  interval_seconds INTEGER NOT NULL,
  -- More series than this are an error; 0: no such limit.
  series_limit INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (group_name, position)
) STRICT;
