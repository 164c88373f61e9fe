import { compare } from 'semver';
import type { Identity } from 'svc/contracts/edge-uplink';
import type { UpgradeState } from 'svc/edge-protocol';
import { type Clock, type Logger, messageOf } from 'svc/sdk';

import { sourceOf } from './address.ts';
import { download, isFinal } from './download.ts';
import { errors } from './errors.ts';
import { hasEnded, type Job, type JobFile } from './job-file.ts';
import { readOrder } from './order.ts';
import type { Staging } from './staging.ts';
import type { TrialFiles } from './trial-files.ts';

export interface UpgradeParts {
  readonly jobs: Pick<JobFile, 'current' | 'write'>;
  readonly staging: Staging;
  readonly trials: TrialFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Version of the program that runs, its folder of `<data>/versions`, and why it cannot be replaced. */
  readonly version: string;
  readonly running: string;
  readonly obstacle: () => string | undefined;
  readonly trialSeconds: number;
  readonly fetchTries: number;
  readonly identity: () => Identity | undefined;
  /** Streams that are open through this machine. */
  readonly streams: () => number;
  readonly report: (state: {
    job_id: string;
    state: UpgradeState;
    version?: string;
    error?: string;
  }) => Promise<void>;
  readonly pause: (ms: number) => Promise<void>;
  /** There is something to do. */
  readonly wake: () => void;
}

const maxBegun = 6;
const fetchMs = 20 * 60_000;
const shellMs = 5 * 60_000;
const lookMs = 1_000;
/** Time for which a partial package waits to be ordered again. */
const resumableMs = 24 * 3_600_000;

/** One order, from its arrival to its end, over any number of lives of the agent. */
export class Upgrade {
  readonly #parts: UpgradeParts;

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
  }

  /** Accepts an order; the work continues in the background. Idempotent. */
  async take(params: unknown): Promise<object> {
    const { jobs, obstacle, trials, version, streams, wake } = this.#parts;
    const order = readOrder(params);
    const known = jobs.current();
    if (known?.order.job_id === order.job_id) {
      return {};
    }
    if (trials.current() || (known && !hasEnded(known))) {
      throw errors.upgrade_running();
    }
    const why = obstacle();
    if (why !== undefined) {
      throw errors.obstacle({ why });
    }
    sourceOf(order.url, this.#identity());
    if (order.version !== undefined) {
      assertForward(version, order.version, order.allow_downgrade);
    }
    if (streams() > 0 && order.force !== true) {
      throw errors.shell_open();
    }
    await this.#enter({ order, state: 'queued', begun: 0 }, 'queued');
    wake();
    return {};
  }

  /** Continues the current job, wherever the agent was stopped. */
  async advance(signal: AbortSignal): Promise<void> {
    const { jobs, trials, running } = this.#parts;
    const job = jobs.current();
    if (!job || hasEnded(job)) {
      return;
    }
    const back = trials.turnedBack();
    if (back?.job === job.order.job_id) {
      await this.#end(job, 'rolled_back', back.reason);
      return;
    }
    if (trials.current()) {
      await this.#enter({ ...job, folder: trials.current()!.next }, 'restarting');
      return;
    }
    if (job.state === 'restarting') {
      await (running === job.folder
        ? this.#end(job, 'succeeded')
        : this.#end(
            job,
            'rolled_back',
            'the launcher runs the version before; it did not say why',
          ));
      return;
    }
    try {
      if (job.begun >= maxBegun) {
        throw errors.too_many_starts({ maxBegun });
      }
      await this.#prepare({ ...job, begun: job.begun + 1 }, signal);
    } catch (error) {
      // The agent ends: it continues after its restart.
      if (!signal.aborted) {
        const at = jobs.current() ?? job;
        // What a bad connection has transferred so far is resumed when it is ordered again.
        await this.#end(
          at,
          'failed',
          messageOf(error),
          at.state === 'downloading' && !isFinal(error),
        );
      }
    }
  }

  /**
   * Passes the trial: this program is the one on trial, and has held its tunnel for long enough.
   */
  async pass(): Promise<void> {
    const { jobs, trials, running, staging } = this.#parts;
    const trial = trials.current();
    if (!this.onTrial || !trial) {
      return;
    }
    trials.pass();
    staging.prune([running, trial.previous]);
    const job = jobs.current();
    if (job?.order.job_id === trial.job && !hasEnded(job)) {
      await this.#end(job, 'succeeded');
    }
  }

  get onTrial(): boolean {
    return this.#parts.running !== '' && this.#parts.trials.current()?.next === this.#parts.running;
  }

  /** Reports again, since a report may have been lost with the connection. */
  async repeat(forMs: number): Promise<void> {
    const { jobs, clock } = this.#parts;
    const job = jobs.current();
    if (job && (job.endedAt === undefined || clock.now() - job.endedAt < forMs)) {
      await this.#report(job);
    }
  }

  async #prepare(begun: Job, signal: AbortSignal): Promise<void> {
    const { staging, trials, pause, running, version, trialSeconds, fetchTries, log } = this.#parts;
    const { order } = begun;
    let job = await this.#enter(begun, 'downloading');
    const file = staging.fileFor(order.sha256);
    const source = sourceOf(order.url, this.#identity());
    await download({
      source,
      file,
      sha256: order.sha256,
      sizeBytes: order.size_bytes,
      maxTries: fetchTries,
      pause,
      signal: AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]),
    });

    job = await this.#enter(job, 'verifying');
    await staging.verify(file, order);
    const stated = await staging.selfTest(file, signal);
    if (order.version !== undefined && compare(stated, order.version) !== 0) {
      throw errors.other_version({ version: order.version, stated });
    }
    assertForward(version, stated, order.allow_downgrade);
    const folder = staging.place(file, stated, order.sha256);
    job = { ...job, version: stated, folder };
    if (folder === running) {
      await this.#end(job, 'succeeded');
      return;
    }
    await this.#shellsClosed(order.force, signal);
    const previous = running;
    staging.prune([running, folder]);
    // A kill after this line finds the new version on trial; before it, the job where it was.
    trials.begin({ job: order.job_id, next: folder, previous, seconds: trialSeconds });
    await this.#enter(job, 'restarting');
    log.info(
      { version: stated, folder },
      'new version staged; the launcher will start it on trial',
    );
  }

  async #shellsClosed(force: boolean | undefined, signal: AbortSignal): Promise<void> {
    const { streams, pause, clock } = this.#parts;
    for (
      const until = clock.monotonic() + shellMs;
      force !== true && streams() > 0;
      await pause(lookMs)
    ) {
      signal.throwIfAborted();
      if (clock.monotonic() > until) {
        throw errors.not_forced();
      }
    }
  }

  async #enter(job: Job, state: UpgradeState): Promise<Job> {
    const next = { ...job, state };
    this.#parts.jobs.write(next);
    await this.#report(next);
    return next;
  }

  /** Deletes downloads of orders that are over and were not repeated for a while. */
  tidy(): void {
    const { jobs, staging, clock } = this.#parts;
    const job = jobs.current();
    if (job?.endedAt !== undefined && clock.now() - job.endedAt > resumableMs) {
      staging.discard();
    }
  }

  async #end(
    job: Job,
    state: 'succeeded' | 'failed' | 'rolled_back',
    error?: string,
    resumable = false,
  ): Promise<void> {
    const { jobs, trials, staging, running, clock, log } = this.#parts;
    if (state !== 'succeeded') {
      if (!resumable) {
        // First, to free space for the report if the disk was full.
        staging.discard();
      }
      if (job.folder !== undefined && job.folder !== running) {
        staging.prune([running, ...(trials.current() ? [trials.current()!.previous] : [])]);
      }
    }
    const ended = { ...job, state, error: error?.slice(0, 2_000), endedAt: clock.now() };
    log[state === 'succeeded' ? 'info' : 'error'](
      { job: job.order.job_id, version: job.version, cause: error },
      `upgrade ${state.replace('_', ' ')}`,
    );
    try {
      jobs.write(ended);
    } finally {
      await this.#report(ended);
    }
    trials.forgetTurnedBack();
  }

  /**
   * Reports the state of a job; a report that fails is sent again later, and the work does not wait
   * for it.
   */
  async #report({ order, state, version, error }: Job): Promise<void> {
    const { report, log } = this.#parts;
    try {
      await report({
        job_id: order.job_id,
        state,
        ...(version !== undefined && { version }),
        ...(error !== undefined && { error }),
      });
    } catch (cause) {
      log.warn(
        { event: 'edge-upgrade.report_failed', job: order.job_id, state, cause: messageOf(cause) },
        'failed to report the upgrade state; retrying',
      );
    }
  }

  #identity(): Identity {
    const identity = this.#parts.identity();
    if (!identity) {
      throw errors.not_enrolled();
    }
    return identity;
  }
}

function assertForward(from: string, to: string, allowDowngrade: boolean | undefined): void {
  if (compare(to, from) < 0 && allowDowngrade !== true) {
    throw errors.downgrade({ to, from });
  }
}
