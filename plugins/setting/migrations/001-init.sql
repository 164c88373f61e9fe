-- What administrators have set. A row outlives the plugin that declares its key.
CREATE TABLE setting_values (
  category TEXT NOT NULL,
  key TEXT NOT NULL,
  -- JSON text, sealed when it is a secret.
  value TEXT NOT NULL,
  sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (category, key)
) STRICT, WITHOUT ROWID;
