-- Proposals of checks that a person does not want to see again, by what they would check.
CREATE TABLE checks_dismissals (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT;
