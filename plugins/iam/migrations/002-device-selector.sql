-- Which devices the members of an organization see; NULL: all, as before.
ALTER TABLE iam_orgs ADD COLUMN device_selector TEXT;
