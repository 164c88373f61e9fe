-- How far the trail has been shipped to each sink: the last row that it acknowledged.
CREATE TABLE audit_sinks (
  place TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
