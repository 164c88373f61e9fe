-- Ids of edges are never used twice: series, devices and the trail name them after they are gone.
CREATE TABLE edge_edges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  -- JSON.
  labels TEXT NOT NULL,
  access_key TEXT NOT NULL UNIQUE,
  -- The machine that the enrolment was asked from, so that asking again before the first login makes no second edge.
  enrolment_id INTEGER,
  enrolled_machine TEXT,
  device_id INTEGER,
  -- JSON, as the machine tells.
  host_info TEXT,
  conflict_since INTEGER,
  -- JSON list of the machines that were in conflict.
  conflict_machines TEXT,
  -- After a conflict: the machine that a person chose.
  only_machine TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX edge_edges_enrolled ON edge_edges (enrolment_id, enrolled_machine) WHERE enrolment_id IS NOT NULL;
CREATE INDEX edge_edges_device ON edge_edges (device_id) WHERE device_id IS NOT NULL;

-- Secrets of an edge that still live: one, or two while it changes from one to the other.
CREATE TABLE edge_keys (
  edge_id INTEGER NOT NULL REFERENCES edge_edges (id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  stored_key TEXT NOT NULL,
  server_key TEXT NOT NULL,
  -- NULL: lives on.
  dies_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (edge_id, generation)
) STRICT, WITHOUT ROWID;

-- Written in batches, for all edges at once; narrow, so that a batch touches few pages.
CREATE TABLE edge_presence (
  edge_id INTEGER PRIMARY KEY REFERENCES edge_edges (id) ON DELETE CASCADE,
  online INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  last_registered_at INTEGER NOT NULL,
  agent_version TEXT NOT NULL,
  machine_uuid TEXT NOT NULL
) STRICT;

-- What differs from the defaults of the plugins.
CREATE TABLE edge_plugins (
  edge_id INTEGER NOT NULL REFERENCES edge_edges (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  -- JSON, without defaults.
  spec TEXT NOT NULL,
  updated_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (edge_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge_plugin_health (
  edge_id INTEGER NOT NULL REFERENCES edge_edges (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- JSON.
  health TEXT NOT NULL,
  PRIMARY KEY (edge_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge_enrolments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  -- JSON, for the edges that it brings.
  labels TEXT NOT NULL,
  max_uses INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE edge_upgrades (
  job_id TEXT PRIMARY KEY,
  edge_id INTEGER NOT NULL REFERENCES edge_edges (id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  url TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  signature TEXT,
  version TEXT,
  error TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

CREATE INDEX edge_upgrades_edge ON edge_upgrades (edge_id, created_at);
CREATE UNIQUE INDEX edge_upgrades_running ON edge_upgrades (edge_id) WHERE ended_at IS NULL;
