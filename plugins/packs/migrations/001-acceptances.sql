-- What an administrator has accepted: a pack that asks for other rights waits again.
CREATE TABLE packs_acceptances (
  pack_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  rights TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  PRIMARY KEY (pack_id, hash)
) STRICT, WITHOUT ROWID;
