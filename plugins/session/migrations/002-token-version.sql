-- Of the account when the token was made: a token does not outlive a change of password, role or status. One from before
-- this column counts as made for the account as it was created, so it holds where nothing has changed since.
ALTER TABLE session_api_tokens ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
