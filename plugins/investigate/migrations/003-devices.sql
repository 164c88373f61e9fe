-- Ids of the devices that who asked for it sees, as a JSON list, when these are not all: it has looked at nothing else.
ALTER TABLE investigate_runs ADD COLUMN devices TEXT;
DROP INDEX investigate_runs_one;
CREATE UNIQUE INDEX investigate_runs_one ON investigate_runs (incident_id, coalesce(devices, '')) WHERE status IN ('pending', 'running');
