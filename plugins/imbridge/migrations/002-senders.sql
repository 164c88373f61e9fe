-- Who brought it, by the id that the platform has for them; empty for what is told.
ALTER TABLE imbridge_jobs ADD COLUMN sender TEXT NOT NULL DEFAULT '';
