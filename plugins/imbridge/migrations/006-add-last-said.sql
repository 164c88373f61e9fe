-- Who has spoken last in a thread: its next message need not mention the bot again if that was the same person.
CREATE INDEX imbridge_jobs_said ON imbridge_jobs (lane, id) WHERE kind = 'message';
