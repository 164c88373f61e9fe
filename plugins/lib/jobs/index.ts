export { type JobFilter, type JobPosition } from './job-rows.ts';
export { Jobs, type JobsContext, type JobsParts, type NewJob } from './jobs.ts';
export { Cancelled, GiveUp, LeaseLost, Leaving, TryLater } from './outcome.ts';
export type { Ending, FailedJob, Job, JobProgress, QueueOptions, Work } from './queue.ts';
export { JobSources, type JobSource, type JobView } from './source.ts';
export { jobTable, type JobState } from './table.ts';
