-- Grows each time that a worker takes the run; what an earlier one writes changes nothing.
ALTER TABLE chat_runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
