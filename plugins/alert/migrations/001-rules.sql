-- Ids of rules are never used twice: incidents name them after they are gone.
CREATE TABLE alert_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_key TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  source_type TEXT NOT NULL CHECK (source_type IN ('svc_builtin', 'metricsdb_external')),
  scope_type TEXT NOT NULL CHECK (scope_type IN ('host', 'global', 'monitoring_pipeline')),
  join_mode TEXT NOT NULL CHECK (join_mode IN ('all', 'any')),
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- JSON, like everything below that is no number.
  conditions TEXT NOT NULL,
  labels TEXT NOT NULL,
  annotations TEXT NOT NULL,
  runbook_url TEXT NOT NULL,
  notify_channel_ids TEXT NOT NULL,
  notify_window_seconds INTEGER NOT NULL,
  notify_min_fires INTEGER NOT NULL,
  dimensions TEXT NOT NULL,
  interval_seconds INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- A deleted rule stays, so that its incidents can still say what it was; its key is free again.
  deleted_at INTEGER,
  CHECK ((notify_window_seconds = 0) = (notify_min_fires = 0))
) STRICT;

CREATE UNIQUE INDEX alert_rules_key ON alert_rules (rule_key) WHERE deleted_at IS NULL;

-- Which of the rules that come with the product were put in: each of them once, whatever became of it since.
CREATE TABLE alert_seeds (
  rule_key TEXT PRIMARY KEY,
  inserted_at INTEGER NOT NULL
) STRICT;
