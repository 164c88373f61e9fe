-- Entries are found by the address of the caller, too.
ALTER TABLE audit_log ADD COLUMN ip TEXT GENERATED ALWAYS AS (json_extract(record, '$.ip')) VIRTUAL;

CREATE INDEX audit_log_ip ON audit_log (ip, occurred_at, seq, action, status);
