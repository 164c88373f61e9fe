-- Who looks after a document, and until when it is taken for right; of any source.
CREATE TABLE knowledge_care (
  doc_id INTEGER PRIMARY KEY REFERENCES knowledge_docs (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  -- Null: it does not grow old.
  review_by INTEGER
) STRICT;

-- Whether a document has helped, by who says so.
CREATE TABLE knowledge_votes (
  doc_id INTEGER NOT NULL REFERENCES knowledge_docs (id) ON DELETE CASCADE,
  voter TEXT NOT NULL,
  helpful INTEGER NOT NULL,
  -- Version that was read.
  version INTEGER NOT NULL,
  voted_at INTEGER NOT NULL,
  PRIMARY KEY (doc_id, voter)
) STRICT;
