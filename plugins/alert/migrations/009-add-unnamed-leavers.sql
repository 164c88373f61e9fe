-- Whether an instance has left its incident, and no notification has named it as gone since.
ALTER TABLE alert_instances ADD COLUMN unnamed INTEGER NOT NULL DEFAULT 0 CHECK (unnamed IN (0, 1));

CREATE INDEX alert_instances_unnamed ON alert_instances (incident_key) WHERE unnamed = 1;
