-- Public half of the key of the machine that this edge belongs to; NULL: its agent has shown none yet.
ALTER TABLE edge_edges ADD COLUMN machine_key TEXT;
-- The device that a person, or the enrolment, gave to its machine; until it has it.
ALTER TABLE edge_edges ADD COLUMN takes_device INTEGER;
-- Why it watches no device, in words for people.
ALTER TABLE edge_edges ADD COLUMN device_reason TEXT;

-- The machine that enrols is this device.
ALTER TABLE edge_enrolments ADD COLUMN device_id INTEGER;
