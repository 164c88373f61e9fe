CREATE TABLE investigate_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  incident_id INTEGER NOT NULL,
  fire_seq INTEGER NOT NULL,
  started_by TEXT NOT NULL CHECK (started_by IN ('alert', 'person')),
  asked_by TEXT NOT NULL,
  rule_key TEXT NOT NULL,
  device_id TEXT,
  labels TEXT NOT NULL,
  fired_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'ready', 'failed', 'skipped')),
  -- How often it was begun: only the attempt that holds the row may end it.
  attempts INTEGER NOT NULL,
  -- What a model is to add: nothing, or where that stands.
  assist TEXT NOT NULL CHECK (assist IN ('none', 'waiting', 'running', 'done', 'dropped')),
  mode TEXT NOT NULL CHECK (mode IN ('deterministic', 'assisted')),
  verdict TEXT,
  summary TEXT NOT NULL,
  confidence REAL,
  root_node TEXT,
  engine_version TEXT,
  -- What tells it from others: templates and checks of its cause.
  marks TEXT NOT NULL,
  report TEXT,
  reason TEXT,
  snapshot_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ready_at INTEGER
) STRICT;
CREATE INDEX investigate_runs_incident ON investigate_runs (incident_id, id);
CREATE INDEX investigate_runs_rule ON investigate_runs (rule_key, created_at);
CREATE INDEX investigate_runs_time ON investigate_runs (created_at);
CREATE INDEX investigate_runs_open ON investigate_runs (id) WHERE status IN ('pending', 'running') OR assist IN ('waiting', 'running');
CREATE UNIQUE INDEX investigate_runs_one ON investigate_runs (incident_id) WHERE status IN ('pending', 'running');
CREATE UNIQUE INDEX investigate_runs_firing ON investigate_runs (incident_id, fire_seq) WHERE started_by = 'alert';

-- What people say of a report, each once.
CREATE TABLE investigate_feedback (
  run_id INTEGER NOT NULL REFERENCES investigate_runs (id),
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('right', 'partly', 'wrong')),
  true_cause TEXT NOT NULL,
  comment TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, person)
) STRICT, WITHOUT ROWID;
