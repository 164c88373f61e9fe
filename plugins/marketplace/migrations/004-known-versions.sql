-- Hashes of archives by pack and version, of every list that was read, as JSON: a version that a list leaves out stays known.
ALTER TABLE marketplace_registries ADD COLUMN known TEXT;
