CREATE TABLE topology_node_types (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  -- JSON Schema that the props of every node of the type fit.
  schema TEXT NOT NULL,
  tier TEXT NOT NULL,
  builtin INTEGER NOT NULL CHECK (builtin IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Ids of nodes and relations are never used twice: the trail names them after they are gone.
CREATE TABLE topology_nodes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL REFERENCES topology_node_types (name),
  name TEXT NOT NULL,
  props TEXT NOT NULL,
  -- JSON, as they are shown; the table below is for filters.
  tags TEXT NOT NULL,
  -- The device that the node stands for: name and tags are the device's.
  device_id INTEGER UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX topology_nodes_type ON topology_nodes (type);

CREATE TABLE topology_node_tags (
  node_id INTEGER NOT NULL REFERENCES topology_nodes (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (node_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX topology_node_tags_key ON topology_node_tags (key, value);

CREATE TABLE topology_relation_types (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  -- The way failure spreads.
  direction TEXT NOT NULL CHECK (direction IN ('src_to_dst', 'dst_to_src', 'bidirectional')),
  propagates_failure INTEGER NOT NULL CHECK (propagates_failure IN (0, 1)),
  builtin INTEGER NOT NULL CHECK (builtin IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE topology_relations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL REFERENCES topology_relation_types (name),
  src_id INTEGER NOT NULL REFERENCES topology_nodes (id),
  dst_id INTEGER NOT NULL REFERENCES topology_nodes (id),
  props TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (src_id, dst_id, type),
  CHECK (src_id != dst_id)
) STRICT;

CREATE INDEX topology_relations_dst ON topology_relations (dst_id);
CREATE INDEX topology_relations_type ON topology_relations (type);

INSERT INTO topology_node_types (name, display_name, schema, tier, builtin, created_at)
SELECT column1, column2, column3, column4, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM (VALUES
  ('service', 'Service', '{"type":"object","properties":{"owner":{"type":"string","maxLength":200},"url":{"type":"string","format":"uri"},"criticality":{"enum":["low","medium","high","critical"]}}}', 'business'),
  ('app', 'Application', '{"type":"object","properties":{"owner":{"type":"string","maxLength":200},"version":{"type":"string","maxLength":100},"repository":{"type":"string","maxLength":500},"port":{"type":"integer","minimum":1,"maximum":65535}}}', 'application'),
  ('database', 'Database', '{"type":"object","properties":{"engine":{"type":"string","maxLength":100},"version":{"type":"string","maxLength":100},"port":{"type":"integer","minimum":1,"maximum":65535}}}', 'data'),
  ('queue', 'Queue', '{"type":"object","properties":{"engine":{"type":"string","maxLength":100},"version":{"type":"string","maxLength":100},"port":{"type":"integer","minimum":1,"maximum":65535}}}', 'data'),
  ('cluster', 'Cluster', '{"type":"object","properties":{"kind":{"type":"string","maxLength":100},"region":{"type":"string","maxLength":100}}}', 'infrastructure'),
  ('host', 'Host', '{"type":"object","properties":{"location":{"type":"string","maxLength":200},"asset_tag":{"type":"string","maxLength":100},"vendor":{"type":"string","maxLength":100},"model":{"type":"string","maxLength":100}}}', 'infrastructure'),
  ('rack', 'Rack', '{"type":"object","properties":{"location":{"type":"string","maxLength":200},"units":{"type":"integer","minimum":1,"maximum":100}}}', 'facility')
);

-- "a depends_on b": when b fails, so does a.
INSERT INTO topology_relation_types (name, display_name, direction, propagates_failure, builtin, created_at)
SELECT column1, column2, column3, column4, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM (VALUES
  ('depends_on', 'Depends on', 'dst_to_src', 1),
  ('runs_on', 'Runs on', 'dst_to_src', 1),
  ('served_by', 'Served by', 'dst_to_src', 1),
  ('member_of', 'Member of', 'dst_to_src', 1),
  ('routes_to', 'Routes to', 'dst_to_src', 1),
  ('replicates_to', 'Replicates to', 'src_to_dst', 1),
  ('monitors', 'Monitors', 'src_to_dst', 0),
  ('connected_to', 'Connected to', 'bidirectional', 0)
);
