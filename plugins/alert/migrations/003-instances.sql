-- One row for each label set; the key of the row is the instance's own, and incident_key that of its incident.
ALTER TABLE alert_instances ADD COLUMN incident_key TEXT NOT NULL DEFAULT '';
ALTER TABLE alert_instances ADD COLUMN scope_id TEXT NOT NULL DEFAULT '';
ALTER TABLE alert_instances ADD COLUMN device_id TEXT;
ALTER TABLE alert_instances ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
-- Whether channels have been sent that it fires.
ALTER TABLE alert_instances ADD COLUMN notified INTEGER NOT NULL DEFAULT 0 CHECK (notified IN (0, 1));
ALTER TABLE alert_instances ADD COLUMN value REAL;
ALTER TABLE alert_instances ADD COLUMN worst REAL;
-- By the wall, unlike since and cleared_at: when it came into its phase, and when it was found last.
ALTER TABLE alert_instances ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alert_instances ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
-- When it left its incident, by the wall: it stays listed for a day.
ALTER TABLE alert_instances ADD COLUMN resolved_at INTEGER;

-- The instance that stands for the incident: whose labels and value are shown.
ALTER TABLE alert_incidents ADD COLUMN lead TEXT NOT NULL DEFAULT '';

-- How long an alert goes on firing after its condition has cleared, in milliseconds; null: until a second evaluation finds it clear.
ALTER TABLE alert_rules ADD COLUMN keep_firing_ms INTEGER;

-- More alerts of the rule than this are an error of its evaluation; 0: no such limit.
ALTER TABLE alert_rules ADD COLUMN alert_limit INTEGER NOT NULL DEFAULT 0;

-- What has not fired yet has no labels here: it begins anew.
DELETE FROM alert_instances WHERE phase IN ('partial', 'pending');

-- Each incident so far is one instance: the series that fired first. Its labels are those that its rule did not put on.
UPDATE alert_incidents SET lead = dedupe_key || '|' || (
  SELECT json_group_array(json_array(own.key, own.value)) FROM (
    SELECT series.key, series.value FROM json_each(alert_incidents.labels) AS series
    WHERE NOT EXISTS (
      SELECT 1 FROM alert_rules AS rule, json_each(rule.labels) AS given WHERE rule.id = alert_incidents.rule_id AND given.key = series.key
    )
    ORDER BY series.key
  ) AS own
);

-- Conditions that must come together have one instance for each key.
UPDATE alert_incidents SET lead = dedupe_key WHERE rule_id = 0 OR rule_id IN (
  SELECT id FROM alert_rules WHERE join_mode = 'all' AND json_array_length(conditions) > 1
);

UPDATE alert_instances SET
  incident_key = alert_instances.dedupe_key,
  scope_id = incident.scope_id,
  device_id = incident.device_id,
  labels = incident.labels,
  notified = incident.told_seq >= incident.event_count,
  value = incident.value,
  worst = incident.value,
  started_at = incident.last_fired_at,
  seen_at = incident.updated_at,
  dedupe_key = incident.lead
FROM alert_incidents AS incident WHERE incident.dedupe_key = alert_instances.dedupe_key;

DELETE FROM alert_instances WHERE incident_key = '';

CREATE INDEX alert_instances_incident ON alert_instances (incident_key);
CREATE INDEX alert_instances_over ON alert_instances (resolved_at) WHERE resolved_at IS NOT NULL;
