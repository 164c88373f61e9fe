-- Sealed: the secret of this generation, while its edge has not proved it. With it the offer outlives a crash of the manager.
ALTER TABLE edge_keys ADD COLUMN offer TEXT;
