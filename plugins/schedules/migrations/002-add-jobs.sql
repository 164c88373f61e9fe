-- Work that waits, as plugins/lib/jobs keeps it.
CREATE TABLE schedules_jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  queue TEXT NOT NULL,
  -- One job a key, as long as the job has it.
  key TEXT,
  -- Jobs of a lane run one after another, in the order in which they came.
  lane TEXT,
  title TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'parked', 'done', 'failed', 'cancelled')),
  due_at INTEGER NOT NULL,
  -- How far ahead due_at was when it was set: a wait beyond that is of a clock that went back.
  wait_ms INTEGER NOT NULL,
  deadline_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Grows with each lease; a write of another lease changes nothing.
  epoch INTEGER NOT NULL DEFAULT 0,
  -- Who has the lease: process, then generation.
  owner TEXT,
  lease_until INTEGER,
  cancel INTEGER NOT NULL DEFAULT 0,
  -- To be done once more when the run that is under way has ended.
  again INTEGER NOT NULL DEFAULT 0,
  progress TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  UNIQUE (queue, key)
) STRICT;

CREATE INDEX schedules_jobs_waiting ON schedules_jobs (queue, seq) WHERE state = 'waiting';
CREATE INDEX schedules_jobs_due ON schedules_jobs (queue, due_at) WHERE state = 'waiting';
CREATE INDEX schedules_jobs_running ON schedules_jobs (seq) WHERE state = 'running';
CREATE INDEX schedules_jobs_lane ON schedules_jobs (queue, lane, seq) WHERE state IN ('waiting', 'running');
CREATE INDEX schedules_jobs_created ON schedules_jobs (created_at, id);
CREATE INDEX schedules_jobs_ended ON schedules_jobs (ended_at) WHERE ended_at IS NOT NULL;
