-- Account that a link was made with, and without which it shows nothing; null for who has none.
ALTER TABLE monitor_links ADD COLUMN maker_id INTEGER;
