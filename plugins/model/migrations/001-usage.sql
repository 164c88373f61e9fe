-- What was used on one day (UTC), once by the model that answered and once for each run, session and persona it was used for.
CREATE TABLE model_usage (
  day TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('model', 'run', 'session', 'persona')),
  ref TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  -- Of these, what nobody counted: calls that a stop of svc cut off, and providers that do not say.
  estimated_tokens INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (scope, ref, day)
) STRICT, WITHOUT ROWID;

-- The same by day, for the sum of all models.
CREATE INDEX model_usage_by_day ON model_usage (day, scope);

-- Calls that are under way: as much as each may cost at most.
CREATE TABLE model_reservations (
  id TEXT PRIMARY KEY,
  -- The process that made it: what is left of an earlier one never settles.
  process INTEGER NOT NULL,
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  persona TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL
) STRICT;
