-- Servers elsewhere that already have series of hosts.
CREATE TABLE connected_stores_servers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  url TEXT NOT NULL,
  -- JSON, sealed; null: the server asks for none.
  credentials TEXT,
  -- JSON: how hosts are named, the first rule that fits counts.
  host_rules TEXT NOT NULL,
  -- JSON: selectors of series that are copied beside the figures of hosts.
  copied TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
