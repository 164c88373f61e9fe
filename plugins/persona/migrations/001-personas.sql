-- Personas that users made: the header as JSON, the text beside it.
CREATE TABLE persona_own (
  name TEXT PRIMARY KEY,
  header TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- How often a persona has changed, wherever it comes from; what an agent did is stamped with it.
CREATE TABLE persona_versions (
  name TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
