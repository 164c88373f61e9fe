import { SvcError } from 'svc/sdk';

/** Error by which work requests a retry at another time than its back-off. */
export class TryLater extends Error {
  /** Delay; undefined means that of the back-off. */
  readonly afterMs: number | undefined;
  /** True if the attempt counts towards the max of its queue. */
  readonly counts: boolean;

  constructor(
    reason: string,
    { afterMs, counts = true }: { readonly afterMs?: number; readonly counts?: boolean } = {},
  ) {
    super(reason);
    this.afterMs = afterMs;
    this.counts = counts;
  }
}

/** Thrown by work that no further try would help. */
export class GiveUp extends Error {}

/** Reason of a signal: the job is to be cancelled. */
export class Cancelled extends Error {
  constructor() {
    super('the job was cancelled');
  }
}

/** Reason of a signal: the generation that runs the job leaves, and the next one takes it up. */
export class Leaving extends Error {
  constructor() {
    super('the plugin is reloaded or stopped');
  }
}

/** Another lease has the job by now, so that nothing of this one may be written. */
export class LeaseLost extends SvcError {
  constructor(id: string) {
    super('conflict', `job ${id} is leased by another worker`, { reason: 'jobs.lease_lost' });
  }
}

/** A try took longer than its queue allows. */
export class TryLate extends SvcError {
  constructor(queue: string, ms: number) {
    super('unavailable', `a job of ${queue} did not finish within ${ms} ms`, {
      reason: 'jobs.try_late',
    });
  }
}
