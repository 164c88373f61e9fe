-- Keys that bind and sign the trail. A new one is made only when the last one cannot be opened any more.
CREATE TABLE audit_keys (
  id INTEGER PRIMARY KEY,
  chain_key TEXT NOT NULL,
  signing_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- The trail. `record` is canonical JSON, and the hash speaks for its bytes: whatever is filtered by is read out of it.
CREATE TABLE audit_log (
  seq INTEGER PRIMARY KEY,
  key_id INTEGER NOT NULL,
  record TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  occurred_at INTEGER NOT NULL GENERATED ALWAYS AS (json_extract(record, '$.occurred_at')) VIRTUAL,
  actor TEXT NOT NULL GENERATED ALWAYS AS (json_extract(record, '$.actor.type') || ':' || json_extract(record, '$.actor.id')) VIRTUAL,
  actor_email TEXT GENERATED ALWAYS AS (json_extract(record, '$.actor.email')) VIRTUAL,
  action TEXT NOT NULL GENERATED ALWAYS AS (json_extract(record, '$.action')) VIRTUAL,
  resource_type TEXT NOT NULL GENERATED ALWAYS AS (json_extract(record, '$.resource_type')) VIRTUAL,
  resource_id TEXT GENERATED ALWAYS AS (json_extract(record, '$.resource_id')) VIRTUAL,
  status TEXT NOT NULL GENERATED ALWAYS AS (json_extract(record, '$.status')) VIRTUAL
) STRICT;

-- Each index leads a filter and carries those that may come with it, so that no row is read before it is known to fit.
CREATE INDEX audit_log_time ON audit_log (occurred_at);
CREATE INDEX audit_log_resource_id ON audit_log (resource_id, occurred_at, seq, actor, resource_type, action, status);
CREATE INDEX audit_log_actor ON audit_log (actor, occurred_at, seq, resource_type, action, status);
CREATE INDEX audit_log_resource_type ON audit_log (resource_type, occurred_at, seq, action, status);
CREATE INDEX audit_log_action ON audit_log (action, occurred_at, seq, status);
CREATE INDEX audit_log_status ON audit_log (status, occurred_at, seq);
CREATE INDEX audit_log_email ON audit_log (actor_email, actor) WHERE actor_email IS NOT NULL;

-- What was true of the last row at a moment, signed.
CREATE TABLE audit_checkpoints (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  signature TEXT NOT NULL
) STRICT;

-- What stands for rows that were archived and removed, signed.
CREATE TABLE audit_anchors (
  to_seq INTEGER PRIMARY KEY,
  from_seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  signature TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_log_gapless BEFORE INSERT ON audit_log
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit_log)
BEGIN
  SELECT RAISE(ABORT, 'the audit trail only grows at its end, row by row');
END;

CREATE TRIGGER audit_log_fixed BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'a row of the audit trail is never changed');
END;

CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
WHEN OLD.seq > (SELECT coalesce(max(to_seq), 0) FROM audit_anchors)
BEGIN
  SELECT RAISE(ABORT, 'a row of the audit trail is removed only when an anchor stands for it');
END;

CREATE TRIGGER audit_checkpoints_fixed BEFORE UPDATE ON audit_checkpoints
BEGIN
  SELECT RAISE(ABORT, 'a checkpoint is never changed');
END;

CREATE TRIGGER audit_checkpoints_kept BEFORE DELETE ON audit_checkpoints
BEGIN
  SELECT RAISE(ABORT, 'a checkpoint is never removed');
END;

CREATE TRIGGER audit_anchors_fixed BEFORE UPDATE ON audit_anchors
BEGIN
  SELECT RAISE(ABORT, 'an anchor is never changed');
END;

CREATE TRIGGER audit_anchors_kept BEFORE DELETE ON audit_anchors
BEGIN
  SELECT RAISE(ABORT, 'an anchor is never removed');
END;
