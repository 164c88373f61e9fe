-- Which look at a firing this is: one that burns on without a cause is looked at again.
ALTER TABLE investigate_runs ADD COLUMN look INTEGER NOT NULL DEFAULT 1;
DROP INDEX investigate_runs_firing;
CREATE UNIQUE INDEX investigate_runs_firing ON investigate_runs (incident_id, fire_seq, look) WHERE started_by = 'alert';
