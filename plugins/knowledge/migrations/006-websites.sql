-- A website is a source like a repository: its pages are documents below one folder.
ALTER TABLE knowledge_repos ADD COLUMN kind TEXT NOT NULL DEFAULT 'git' CHECK (kind IN ('git', 'website'));
