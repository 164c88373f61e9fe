-- SSH keys that svc shows to Git servers; the private half is sealed.
CREATE TABLE knowledge_identities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  comment TEXT NOT NULL,
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE,
  private_key TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

-- Which key is that of a server: the first one that it has shown to this identity.
CREATE TABLE knowledge_host_keys (
  identity_id INTEGER NOT NULL REFERENCES knowledge_identities (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  pinned_at INTEGER NOT NULL,
  PRIMARY KEY (identity_id, host, algorithm)
) STRICT;

CREATE TABLE knowledge_repos (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE,
  url TEXT NOT NULL,
  -- Empty: the one that the server calls its own.
  branch TEXT NOT NULL,
  -- Empty: the whole repository.
  path_prefix TEXT NOT NULL,
  -- The folder of its documents.
  mount TEXT NOT NULL,
  org_id INTEGER,
  ssh_identity_id INTEGER REFERENCES knowledge_identities (id),
  username TEXT NOT NULL,
  password TEXT,
  sync_interval INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('never_synced', 'syncing', 'ready', 'failed')),
  last_synced_at INTEGER,
  last_tried_at INTEGER,
  last_commit TEXT,
  last_error TEXT,
  last_error_code TEXT,
  -- JSON: what the last sync that succeeded has changed and left out.
  last_result TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  -- Null: only when it is asked for.
  due_at INTEGER,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX knowledge_repos_mount ON knowledge_repos (coalesce(org_id, 0), mount);
