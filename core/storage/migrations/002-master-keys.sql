-- Where plugins seal secrets. Kept when a plugin leaves, because its rows stay.
CREATE TABLE core_sealed_columns (
  plugin TEXT NOT NULL,
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  -- The columns that name a row, joined by |.
  row_columns TEXT NOT NULL,
  PRIMARY KEY (plugin, table_name, column_name)
) STRICT, WITHOUT ROWID;

-- Keys that were rotated out, until nothing that they sealed is left.
CREATE TABLE core_superseded_keys (
  kid TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
