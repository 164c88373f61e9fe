-- Ids of devices are never used twice: series, incidents and the trail name them after they are gone.
CREATE TABLE device_devices (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The identity that the agent of the machine keeps; NULL once another device has it.
  machine_uuid TEXT UNIQUE,
  fingerprint TEXT,
  -- Given by a person; NULL: it is called what it calls itself.
  display_name TEXT,
  hostname TEXT,
  os TEXT,
  os_version TEXT,
  arch TEXT,
  kernel_version TEXT,
  ip_address TEXT,
  cpu_count INTEGER,
  mem_total_bytes INTEGER,
  disk_total_bytes INTEGER,
  -- JSON, as they are shown; the tables below are for filters.
  tags TEXT NOT NULL DEFAULT '{}',
  roles TEXT NOT NULL DEFAULT '[]',
  last_seen_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX device_devices_fingerprint ON device_devices (fingerprint) WHERE fingerprint IS NOT NULL;

CREATE TABLE device_tags (
  device_id INTEGER NOT NULL REFERENCES device_devices (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (device_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_tags_key ON device_tags (key, value);

CREATE TABLE device_roles (
  device_id INTEGER NOT NULL REFERENCES device_devices (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  PRIMARY KEY (device_id, role)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_roles_role ON device_roles (role);

-- Which edge watches which device. A row with a rival waits for a person; until then the edge watches nothing.
CREATE TABLE device_edges (
  edge_id INTEGER PRIMARY KEY,
  device_id INTEGER REFERENCES device_devices (id) ON DELETE SET NULL,
  machine_uuid TEXT NOT NULL,
  bound_at INTEGER,
  rival_edge_id INTEGER,
  -- The device that both claim.
  rival_device_id INTEGER REFERENCES device_devices (id) ON DELETE SET NULL,
  rival_since INTEGER
) STRICT;

CREATE INDEX device_edges_device ON device_edges (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX device_edges_rival ON device_edges (rival_device_id) WHERE rival_device_id IS NOT NULL;
