CREATE TABLE skill_evidence (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tool TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  truncated INTEGER NOT NULL,
  trust TEXT NOT NULL CHECK (trust IN ('trusted', 'untrusted')),
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
