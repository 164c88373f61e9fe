-- JSON: how far the history of a store is copied; null: none is wanted.
ALTER TABLE connected_stores_servers ADD COLUMN history TEXT;
