-- Personas of a pack that is taken away: what is kept under their names goes with it.
ALTER TABLE marketplace_changes ADD COLUMN personas TEXT NOT NULL DEFAULT '[]';
