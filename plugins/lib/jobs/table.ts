/**
 * SQL of the table that holds the jobs of one plugin. A migration named `NNN-add-jobs.sql` has exactly this text, which a test
 * compares: the table belongs to the plugin, so that a job is enqueued in the transaction of the change it is about.
 */
export const jobTable = (name: string): string => `-- Work that waits, as plugins/lib/jobs keeps it.
CREATE TABLE ${name} (
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

CREATE INDEX ${name}_waiting ON ${name} (queue, seq) WHERE state = 'waiting';
CREATE INDEX ${name}_due ON ${name} (queue, due_at) WHERE state = 'waiting';
CREATE INDEX ${name}_running ON ${name} (seq) WHERE state = 'running';
CREATE INDEX ${name}_lane ON ${name} (queue, lane, seq) WHERE state IN ('waiting', 'running');
CREATE INDEX ${name}_created ON ${name} (created_at, id);
CREATE INDEX ${name}_ended ON ${name} (ended_at) WHERE ended_at IS NOT NULL;
`;

export type JobState = 'waiting' | 'running' | 'parked' | 'done' | 'failed' | 'cancelled';

/** Job as stored. Times are milliseconds of the wall clock. */
export interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly queue: string;
  readonly key: string | null;
  readonly lane: string | null;
  readonly title: string;
  readonly payload: string;
  readonly state: JobState;
  readonly due_at: number;
  readonly wait_ms: number;
  readonly deadline_at: number | null;
  readonly attempts: number;
  readonly epoch: number;
  readonly owner: string | null;
  readonly lease_until: number | null;
  readonly cancel: number;
  readonly again: number;
  readonly progress: string | null;
  readonly error: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}
