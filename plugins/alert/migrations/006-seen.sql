-- Whether summary and annotations may hold what a store answered of other devices: members who see some devices alone are not shown them.
ALTER TABLE alert_incidents ADD COLUMN asked INTEGER NOT NULL DEFAULT 0 CHECK (asked IN (0, 1));
UPDATE alert_incidents SET asked = 1
WHERE rule_id > 0 AND NOT EXISTS (SELECT 1 FROM alert_rules AS rule WHERE rule.id = alert_incidents.rule_id AND instr(rule.annotations, 'query') = 0);

-- Ids of the devices whose instances alone it mutes, as a JSON list; null: all.
ALTER TABLE alert_silences ADD COLUMN devices TEXT;
