-- Who changed a silence last.
ALTER TABLE alert_silences ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
UPDATE alert_silences SET updated_by = created_by;
