-- Where packs are found. `content` is what was read last, as JSON.
CREATE TABLE marketplace_registries (
  name TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  public_key TEXT,
  content TEXT,
  etag TEXT,
  error TEXT,
  refreshed_at INTEGER,
  added_by TEXT NOT NULL,
  added_at INTEGER NOT NULL
) STRICT;

-- What is installed; `lock` names every file with its hash, `before` is the lock of the version before.
CREATE TABLE marketplace_packs (
  pack_id TEXT PRIMARY KEY,
  lock TEXT NOT NULL,
  before TEXT,
  ceiling TEXT NOT NULL,
  admitted TEXT NOT NULL,
  linked TEXT,
  installed_by TEXT NOT NULL,
  installed_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- A change of folders that has begun: what is found here at a start is undone, or its cleaning is done again.
CREATE TABLE marketplace_changes (
  pack_id TEXT PRIMARY KEY,
  step TEXT NOT NULL CHECK (step IN ('switching', 'cleaning')),
  token TEXT NOT NULL,
  before_hash TEXT,
  keep_data INTEGER NOT NULL
) STRICT;

-- Who brought what, and took it away, in order; kept until it is purged.
CREATE TABLE marketplace_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  pack_id TEXT NOT NULL,
  action TEXT NOT NULL,
  version TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  sha256 TEXT,
  verdict TEXT NOT NULL,
  reason TEXT,
  done_by TEXT NOT NULL,
  done_at INTEGER NOT NULL
) STRICT;
CREATE INDEX marketplace_history_by_pack ON marketplace_history (pack_id, id);
