-- What a notice says, so that it can be shown with the state that its incident has by now, and the state that it shows.
ALTER TABLE imbridge_notices ADD COLUMN body TEXT NOT NULL DEFAULT '';
ALTER TABLE imbridge_notices ADD COLUMN shown TEXT NOT NULL DEFAULT '';
