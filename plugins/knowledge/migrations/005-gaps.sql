-- Searches that found nothing, or whose results nobody opened: what is missing in the documents.
CREATE TABLE knowledge_gaps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  question TEXT NOT NULL,
  -- Organizations of those who asked, as a sorted JSON array; null: all of them.
  scope TEXT NOT NULL,
  -- Who asked, if they see only some devices; otherwise empty.
  asker TEXT NOT NULL,
  found_nothing INTEGER NOT NULL,
  not_opened INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  UNIQUE (question, scope, asker)
) STRICT;

CREATE INDEX knowledge_gaps_last ON knowledge_gaps (last_at);
