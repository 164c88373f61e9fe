-- Public half of the key that the machine of the device proves; NULL: its agent has shown none yet.
ALTER TABLE device_devices ADD COLUMN machine_key TEXT;
CREATE INDEX device_devices_machine_key ON device_devices (machine_key) WHERE machine_key IS NOT NULL;

-- What the machine behind this edge proved when it introduced itself.
ALTER TABLE device_edges ADD COLUMN machine_key TEXT;
-- Why the edge watches nothing, in words for people.
ALTER TABLE device_edges ADD COLUMN reason TEXT;
