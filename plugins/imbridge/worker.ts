import { type Clock, type Counter, isSvcError, type Logger, messageOf, type Scope } from 'svc/sdk';

import type { Answerer } from './answerer.ts';
import type { JobStore } from './job-store.ts';
import { SendDeferred } from './messenger.ts';
import type { JobRow } from './tables.ts';

export interface WorkerParts {
  readonly jobs: JobStore;
  readonly answerer: Answerer;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Logger;
  /** This generation of this process, as `process.generation`. */
  readonly process: string;
  readonly holder: string;
  readonly ended: Counter;
  readonly atOnce: () => number;
  /** Tells the next generation, if there is one, that this one has put something down. */
  readonly left: () => void;
}

const lookAgainMs = 1_000;
const firstBackoffMs = 1_000;
const longestBackoffMs = 300_000;
/** After that nobody waits for an answer any more. */
const patienceMs = 4 * 3_600_000;
const mostTries = 20_000;

/** Deals with what has come: side by side, but one after the other in each thread, and again until it has ended. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #lanes = new Set<string>();
  readonly #carried = new Set<Promise<void>>();
  #isDue = false;
  /** The earliest moment at which a timer looks again. */
  #alarm = Number.POSITIVE_INFINITY;
  #rouse = (): void => undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** There may be something due. */
  wake(): void {
    this.#isDue = true;
    this.#rouse();
  }

  /** There is something, which may be found only once who has told of it has committed. */
  arrived(): void {
    this.wake();
    this.#lookAt(this.#parts.clock.now() + lookAgainMs);
  }

  /** Until this generation leaves; what is under way is put down then, for the next one to go on with. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#rouse(), { once: true });
    while (!signal.aborted) {
      if (this.#isDue) {
        this.#isDue = false;
        await this.#begin(signal);
      } else {
        await new Promise<void>((resolve) => (this.#rouse = resolve));
      }
    }
    await Promise.all(this.#carried);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { jobs, clock, process, holder, atOnce, log } = this.#parts;
    const room = atOnce() - this.#lanes.size;
    if (room <= 0) {
      return;
    }
    try {
      const due = (await jobs.due(clock.now(), process, room + this.#lanes.size))
        .filter(({ lane }) => !this.#lanes.has(lane))
        .slice(0, room);
      for (const { id, lane } of due) {
        const job = await jobs.claim(id, holder, process);
        if (job !== undefined) {
          this.#lanes.add(lane);
          const carried = this.#carry(job, signal).finally(() => this.#carried.delete(carried));
          this.#carried.add(carried);
        }
      }
      this.#lookAt(await jobs.nextAt(clock.now()));
    } catch (error) {
      this.#lookAt(clock.now() + lookAgainMs);
      log.warn(
        { event: 'im.storage', cause: messageOf(error) },
        'messages of chat platforms cannot be read or claimed; tried again',
      );
    }
  }

  /** What waits for its time is looked at then, and nothing is asked meanwhile. */
  #lookAt(at: number | undefined): void {
    if (at !== undefined && at < this.#alarm) {
      const { clock, scope } = this.#parts;
      this.#alarm = at;
      scope.timeout(
        'look for what is due',
        Math.min(longestBackoffMs, Math.max(1, Math.ceil(at - clock.now()))),
        () => {
          this.#alarm = Number.POSITIVE_INFINITY;
          this.wake();
        },
      );
    }
  }

  async #carry(job: JobRow, signal: AbortSignal): Promise<void> {
    const { jobs, answerer, clock, ended } = this.#parts;
    try {
      const { state, why } = await answerer.handle(job, signal);
      if (state === 'waiting') {
        await jobs.update(job.id, { state, holder: null });
      } else {
        await jobs.end(job.id, state, clock.now(), why ?? null);
        ended.add(1, { kind: job.kind, state });
      }
    } catch (error) {
      await this.#later(job, error, signal.aborted).catch((trouble: unknown) =>
        this.#parts.log.warn(
          { event: 'im.not_put_down', job: job.id, cause: messageOf(trouble) },
          'message of a chat platform could not be put down; it is taken up after a restart',
        ),
      );
    } finally {
      this.#lanes.delete(job.lane);
      this.wake();
    }
  }

  async #later(job: JobRow, error: unknown, isLeaving: boolean): Promise<void> {
    const { jobs, clock, log, ended } = this.#parts;
    if (isLeaving) {
      await jobs.update(job.id, { holder: null });
      this.#parts.left();
      return;
    }
    const now = clock.now();
    const cause = messageOf(error);
    const mayHelp =
      error instanceof SendDeferred
        ? error.again
        : !isSvcError(error) || error.code !== 'not_found';
    if (!mayHelp || now - job.created_at > patienceMs || job.tries >= mostTries) {
      log.warn(
        { event: 'im.unanswered', job: job.id, app: job.app_id, cause },
        'message of a chat platform stays without an answer',
      );
      await jobs.end(job.id, 'failed', now, cause.slice(0, 500));
      ended.add(1, { kind: job.kind, state: 'failed' });
      return;
    }
    if (!(error instanceof SendDeferred) && !isSvcError(error)) {
      log.error(
        { event: 'im.job_failed', job: job.id, app: job.app_id, cause },
        'message of a chat platform could not be dealt with; tried again',
      );
    }
    const wait =
      (error instanceof SendDeferred ? error.afterMs : undefined) ??
      Math.min(firstBackoffMs * 2 ** Math.min(job.tries, 10), longestBackoffMs);
    await jobs.update(job.id, {
      holder: null,
      next_at: Math.ceil(now + wait),
      error: cause.slice(0, 500),
    });
  }
}
