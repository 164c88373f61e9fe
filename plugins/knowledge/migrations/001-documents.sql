-- Documents: where they stand, whose they are. What they say is in their newest version.
CREATE TABLE knowledge_docs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  title TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('manual', 'upload', 'repo', 'vault')),
  repo_id INTEGER,
  -- Null: everybody may read it.
  org_id INTEGER,
  tags TEXT NOT NULL,
  version INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  -- Of what came from outside: whether a newer one of there is another one.
  origin_digest TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX knowledge_docs_path ON knowledge_docs (coalesce(org_id, 0), path);
CREATE INDEX knowledge_docs_repo ON knowledge_docs (repo_id, path) WHERE repo_id IS NOT NULL;

CREATE TABLE knowledge_versions (
  doc_id INTEGER NOT NULL REFERENCES knowledge_docs (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  title TEXT NOT NULL,
  tags TEXT NOT NULL,
  content TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (doc_id, version)
) STRICT;

-- The newest change of each document, in order: what the index has not seen yet is behind its position.
CREATE TABLE knowledge_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL UNIQUE,
  removed INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Which database this is, so that an index of another one is not taken for its own.
CREATE TABLE knowledge_state (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
