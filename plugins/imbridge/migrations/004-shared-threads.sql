-- Questions to the bot and its answers in threads that several people read, for whoever asks next.
CREATE TABLE imbridge_said (
  -- That of the message.
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES imbridge_apps (id) ON DELETE CASCADE,
  thread TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Empty where its sender began a new conversation.
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX imbridge_said_thread ON imbridge_said (app_id, thread, id);

-- The message on its platform, and a digest of its text: an edit of it is told from one that changes nothing.
ALTER TABLE imbridge_jobs ADD COLUMN message TEXT NOT NULL DEFAULT '';
ALTER TABLE imbridge_jobs ADD COLUMN digest TEXT NOT NULL DEFAULT '';

CREATE INDEX imbridge_jobs_message ON imbridge_jobs (app_id, message, id) WHERE message <> '';
