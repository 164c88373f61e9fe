-- Ways in which people look at their devices: a search with its order, columns and view, under a name of theirs.
CREATE TABLE device_saved_views (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT;
