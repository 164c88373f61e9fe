-- A deleted account keeps its row, so that audit and authorship stay readable; its e-mail is free again.
CREATE TABLE iam_users (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  display_name TEXT NOT NULL,
  role TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  password_hash TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  created_by INTEGER REFERENCES iam_users (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_login_at INTEGER,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX iam_users_email ON iam_users (email) WHERE deleted_at IS NULL;
CREATE INDEX iam_users_role ON iam_users (role) WHERE deleted_at IS NULL;

-- Ids of organizations are never used twice: the trail names them after they are gone.
CREATE TABLE iam_orgs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  parent_id INTEGER REFERENCES iam_orgs (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX iam_orgs_parent ON iam_orgs (parent_id);

CREATE TABLE iam_members (
  org_id INTEGER NOT NULL REFERENCES iam_orgs (id),
  user_id INTEGER NOT NULL REFERENCES iam_users (id),
  role TEXT NOT NULL CHECK (role IN ('org_admin', 'member', 'viewer')),
  PRIMARY KEY (org_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX iam_members_user ON iam_members (user_id);

CREATE TABLE iam_roles (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  grants TEXT NOT NULL,
  created_by INTEGER REFERENCES iam_users (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO iam_orgs (id, name, name_key, description, parent_id, created_at, updated_at)
VALUES (1, 'default', 'default', 'Everybody who is not elsewhere.', NULL, CAST(unixepoch('subsec') * 1000 AS INTEGER), CAST(unixepoch('subsec') * 1000 AS INTEGER));
