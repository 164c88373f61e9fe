-- What a browser showed when a step of a check last failed: one picture of each check, of at most 300 KB.
CREATE TABLE checks_pictures (
  check_id INTEGER PRIMARY KEY REFERENCES checks_checks (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  -- Place whose browser it was.
  place TEXT NOT NULL,
  -- JPEG, as base64.
  picture TEXT NOT NULL
) STRICT;
