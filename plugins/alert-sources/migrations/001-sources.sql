-- Systems that raise alerts themselves and tell them here.
CREATE TABLE alert_sources_peers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  -- SHA-256 of the secret in its address.
  token_digest TEXT NOT NULL UNIQUE,
  -- With which its requests are signed, sealed; null: they are not.
  signing_secret TEXT,
  dimensions TEXT NOT NULL,
  default_severity TEXT NOT NULL CHECK (default_severity IN ('info', 'warning', 'critical')),
  -- Milliseconds after which what is not told again is over.
  unheard_ms INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
