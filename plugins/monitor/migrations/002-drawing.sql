-- What a panel has beyond the fields of the first version, and a type that it does not know.
ALTER TABLE monitor_panels ADD COLUMN drawing TEXT NOT NULL DEFAULT '{}';

-- The dashboard as it was imported, for giving it back.
ALTER TABLE monitor_dashboards ADD COLUMN origin TEXT NOT NULL DEFAULT '';
