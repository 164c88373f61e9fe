-- Digest of the part that all refresh tokens of a session share: it tells a spent one whose own row was forgotten long ago
-- from one that never was. Sessions from before this column get theirs at the next refresh.
ALTER TABLE session_sessions ADD COLUMN family TEXT;

CREATE UNIQUE INDEX session_sessions_family ON session_sessions (family);
