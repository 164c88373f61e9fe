-- The selectors of organizations under which a result was asked for, as JSON; NULL: it may be of any device.
ALTER TABLE skill_evidence ADD COLUMN selectors TEXT;
