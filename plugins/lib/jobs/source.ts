import { defineExtensionPoint } from 'svc/sdk';

import type { JobFilter, JobPosition } from './job-rows.ts';
import type { JobState } from './table.ts';

/** A job as people see it, of whatever queue. */
export interface JobView {
  readonly id: string;
  readonly queue: string;
  readonly title: string;
  readonly state: JobState;
  readonly attempts: number;
  readonly created_at: number;
  /** When it is tried next; null: it runs, is parked or has ended. */
  readonly due_at: number | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly progress: {
    readonly done: number;
    readonly total: number;
    readonly note: string;
  } | null;
  readonly error: string | null;
  /** True if it can be cancelled now. */
  readonly cancellable: boolean;
}

/** Jobs of one plugin, listed and cancelled together with those of others. */
export interface JobSource {
  /** Newest first, below a position. */
  page(
    filter: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]>;
  count(filter: JobFilter): Promise<number>;
  find(id: string): Promise<JobView | undefined>;
  /** Cancels a job and resolves with it; a running one is asked to stop, and has not ended yet. */
  cancel(id: string, by: string): Promise<JobView>;
}

/** Filled by each plugin that has jobs, opened by the plugin that lists them. */
export const JobSources = defineExtensionPoint<JobSource>('jobs.sources', undefined, {
  methods: ['page', 'count', 'find', 'cancel'],
});
