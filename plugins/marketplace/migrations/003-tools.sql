-- Skills of a pack that is taken away: what they have said goes with it.
ALTER TABLE marketplace_changes ADD COLUMN tools TEXT NOT NULL DEFAULT '[]';
