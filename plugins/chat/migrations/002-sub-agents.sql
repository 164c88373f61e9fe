-- The run whose agent has asked for this one.
ALTER TABLE chat_runs ADD COLUMN parent TEXT;
