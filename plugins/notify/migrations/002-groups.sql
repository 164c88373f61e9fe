-- What goes to a channel in one message, and when; durations in milliseconds.
ALTER TABLE notify_channels ADD COLUMN group_by TEXT NOT NULL DEFAULT '["rule_key"]';
ALTER TABLE notify_channels ADD COLUMN group_wait INTEGER NOT NULL DEFAULT 10000;
ALTER TABLE notify_channels ADD COLUMN group_interval INTEGER NOT NULL DEFAULT 60000;
ALTER TABLE notify_channels ADD COLUMN repeat_interval INTEGER NOT NULL DEFAULT 14400000;
-- Gets what this one cannot be sent.
ALTER TABLE notify_channels ADD COLUMN fallback_channel_id INTEGER;

ALTER TABLE notify_deliveries ADD COLUMN group_key TEXT NOT NULL DEFAULT '';
-- When the first tries of it had failed; and whether the source of notices has been given that.
ALTER TABLE notify_deliveries ADD COLUMN delayed_at INTEGER;
ALTER TABLE notify_deliveries ADD COLUMN delay_recorded INTEGER NOT NULL DEFAULT 0;
-- What was queued before there were groups goes by itself.
UPDATE notify_deliveries SET group_key = 'incident ' || incident_id WHERE incident_id <> 0;

CREATE INDEX notify_deliveries_delayed ON notify_deliveries (seq) WHERE delayed_at IS NOT NULL AND delay_recorded = 0;
CREATE INDEX notify_deliveries_failing ON notify_deliveries (channel_id) WHERE delayed_at IS NOT NULL AND state IN ('queued', 'sending');

-- When each group was last sent to its channel.
CREATE TABLE notify_groups (
  channel_id INTEGER NOT NULL REFERENCES notify_channels (id) ON DELETE CASCADE,
  group_key TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (channel_id, group_key)
) STRICT, WITHOUT ROWID;
