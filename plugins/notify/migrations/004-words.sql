-- What a delivery of the kind "test" says when it is no test: words that another room has sent to a channel.
CREATE TABLE notify_words (
  delivery_id TEXT PRIMARY KEY REFERENCES notify_deliveries (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  -- JSON: an array of texts.
  lines TEXT NOT NULL,
  -- Below the address of svc.
  path TEXT NOT NULL
) STRICT, WITHOUT ROWID;
