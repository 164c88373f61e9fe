-- What files call it; one that was given none is called by its number and the time it was made.
ALTER TABLE alert_silences ADD COLUMN name TEXT;
