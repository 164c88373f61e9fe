-- One link for a person: another one takes its place.
CREATE TABLE password_reset_links (
  user_id INTEGER PRIMARY KEY,
  -- SHA-256 of its token, which stands in the e-mail alone.
  digest TEXT NOT NULL UNIQUE,
  -- It is good for the account as it was, and for who reads that mailbox.
  version INTEGER NOT NULL,
  email TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
