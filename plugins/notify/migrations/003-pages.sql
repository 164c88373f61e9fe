-- What links to pages of incidents are signed with.
CREATE TABLE notify_page_keys (
  ref TEXT PRIMARY KEY,
  key TEXT NOT NULL
) STRICT;
