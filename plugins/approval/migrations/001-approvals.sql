CREATE TABLE approval_requests (
  id TEXT PRIMARY KEY,
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('chat', 'skill', 'mcp')),
  owner_ref TEXT NOT NULL,
  session_id TEXT,
  tool_call_id TEXT,
  tool TEXT NOT NULL,
  class TEXT NOT NULL,
  signatures INTEGER NOT NULL CHECK (signatures IN (1, 2)),
  args TEXT NOT NULL,
  args_sha256 TEXT NOT NULL,
  target_kind TEXT NOT NULL CHECK (target_kind IN ('manager', 'device')),
  target_id INTEGER,
  target_name TEXT NOT NULL,
  rendered TEXT NOT NULL,
  persona TEXT,
  persona_version INTEGER,
  requester_kind TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  requester_name TEXT NOT NULL,
  requester_role TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN (
    'pending', 'partially_signed', 'approved', 'executing', 'executed', 'failed', 'unknown',
    'denied', 'expired', 'cancelled', 'superseded')),
  reason TEXT,
  evidence_id TEXT,
  process TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  begun_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX approval_requests_owner ON approval_requests (owner_kind, owner_ref);
CREATE INDEX approval_requests_open ON approval_requests (status, expires_at);

-- One decision of a person on an approval: who signs twice has signed once.
CREATE TABLE approval_signatures (
  approval_id TEXT NOT NULL REFERENCES approval_requests (id),
  user_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  decision TEXT NOT NULL CHECK (decision IN ('approved', 'denied')),
  comment TEXT NOT NULL,
  args_sha256 TEXT NOT NULL,
  ip TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (approval_id, user_id)
) STRICT, WITHOUT ROWID;
