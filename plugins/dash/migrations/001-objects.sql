-- What was written into which Grafana: what differs there later was changed by somebody else.
CREATE TABLE dash_objects (
  target TEXT NOT NULL,
  kind TEXT NOT NULL,
  uid TEXT NOT NULL,
  digest TEXT NOT NULL,
  version INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  PRIMARY KEY (target, kind, uid)
) STRICT;
