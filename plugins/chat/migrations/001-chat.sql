CREATE TABLE chat_sessions (
  id TEXT PRIMARY KEY,
  -- `user:7`: whose session it is.
  owner TEXT NOT NULL,
  user_id INTEGER,
  title TEXT NOT NULL,
  -- A title that a person gave is not replaced.
  titled INTEGER NOT NULL CHECK (titled IN (0, 1)),
  tags TEXT NOT NULL,
  agent TEXT,
  related_incident_id INTEGER,
  -- What older messages came to, for prompts: asks, decisions, evidence.
  digest TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_message_at INTEGER,
  -- Time of the last message and the id: the order of lists.
  active TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX chat_sessions_active ON chat_sessions (owner, active);
CREATE UNIQUE INDEX chat_sessions_all ON chat_sessions (active);

CREATE TABLE chat_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  agent TEXT,
  model TEXT,
  tool_calls TEXT NOT NULL,
  usage TEXT,
  finish_reason TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX chat_messages_session ON chat_messages (session_id, id);

CREATE TABLE chat_runs (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  principal TEXT NOT NULL,
  origin TEXT NOT NULL,
  agent TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'ended')),
  finish_reason TEXT,
  -- Who works on it, and until when without another sign of life.
  holder TEXT,
  held_until INTEGER NOT NULL,
  -- Numbers of events up to this one may have been sent.
  reserved_seq INTEGER NOT NULL,
  cancelled INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX chat_runs_session ON chat_runs (session_id, id);
CREATE INDEX chat_runs_open ON chat_runs (owner, id) WHERE state <> 'ended';
CREATE INDEX chat_runs_ended ON chat_runs (ended_at) WHERE state = 'ended';

-- What a run did, in order; a run is the fold over its rows.
CREATE TABLE chat_journal (
  run_id TEXT NOT NULL REFERENCES chat_runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- What its readers were sent, a batch a row.
CREATE TABLE chat_events (
  run_id TEXT NOT NULL REFERENCES chat_runs (id) ON DELETE CASCADE,
  last_seq INTEGER NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (run_id, last_seq)
) STRICT, WITHOUT ROWID;
