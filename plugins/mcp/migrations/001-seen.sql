-- What a tool of another server looked like when an administrator classed it: what it says of itself later is not what was classed.
CREATE TABLE mcp_seen (
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  class TEXT NOT NULL CHECK (class IN ('safe', 'mutating', 'dangerous')),
  digest TEXT NOT NULL,
  PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;
