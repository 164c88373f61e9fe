import { type Ending, GiveUp, type Job, type Jobs, LeaseLost, TryLater } from 'svc/jobs';
import { isSvcError, messageOf, type PluginContext, type Tables } from 'svc/sdk';

import { LeasedMessage } from '../messages/leased-message.ts';
import { SendDeferred } from '../messages/messenger.ts';
import { type MessageJob, messageJobs } from '../store/message-queue.ts';
import { MessageStore } from '../store/message-store.ts';
import type { ImTables } from '../store/tables.ts';
import type { Answerer } from './answerer.ts';

export interface MessageWorkParts {
  readonly jobs: Pick<Jobs<ImTables>, 'queue'>;
  readonly tables: Pick<Tables<ImTables>, 'read'>;
  readonly answerer: Answerer;
  readonly atOnce: () => number;
}

const hourMs = 3_600_000;
/** Max age of a message that is retried; nobody waits longer for an answer. */
const patienceMs = 4 * hourMs;
/** Deadline of one attempt; runs of agents have their own. */
const tryMs = 6 * hourMs;
/** Time for which ended messages are kept; longer than any platform repeats. */
export const keptMs = 48 * hourMs;
const maxTries = 20_000;

/** Declares how messages are processed: in parallel, but in order within a thread, and retried until each has ended. */
export function dealWithMessages(
  { clock, metrics }: Pick<PluginContext, 'clock' | 'metrics'>,
  { jobs, tables, answerer, atOnce }: MessageWorkParts,
): void {
  const ended = metrics.counter(
    'ended_total',
    'Messages and notifications that were processed, by result.',
    ['kind', 'state'],
  );
  jobs.queue<MessageJob>(messageJobs, {
    atOnce,
    tries: maxTries,
    timeoutMs: tryMs,
    backoffMs: 2_000,
    keepFailedMs: keptMs,
    async work(job: Job<MessageJob, ImTables>): Promise<Ending<ImTables>> {
      const store = new MessageStore(tables.read);
      const row = await store.find(job.id);
      if (row === undefined || row.ended_at !== null) {
        // Its app was deleted, or a version without jobs has dealt with it.
        return {};
      }
      try {
        const message = new LeasedMessage(row, job);
        const { state, why = null } = await answerer.handle(message, job.signal);
        return state === 'waiting'
          ? { state: 'parked' }
          : {
              write: (tx) => new MessageStore(tx).end(job.id, state, clock.now(), why),
              written: () => ended.add(1, { kind: row.kind, state }),
            };
      } catch (error) {
        if (job.signal.aborted || error instanceof LeaseLost) {
          throw error;
        }
        const next = triedAgain(error, clock.now() - job.createdAt);
        if (next instanceof GiveUp) {
          await answerer.excuse(new LeasedMessage((await store.find(job.id)) ?? row, job), error);
        }
        throw next;
      }
    },
    async onFailed(tx, { id, payload: { kind }, cause }) {
      await new MessageStore(tx).end(id, 'failed', clock.now(), cause.slice(0, 500));
      ended.add(1, { kind, state: 'failed' });
    },
  });
}

/** Returns the error for the job: whether and when it is retried. */
function triedAgain(error: unknown, ageMs: number): unknown {
  const mayHelp =
    error instanceof SendDeferred ? error.again : !isSvcError(error) || error.code !== 'not_found';
  if (!mayHelp || ageMs > patienceMs) {
    return new GiveUp(messageOf(error));
  }
  return error instanceof SendDeferred
    ? new TryLater(error.message, error.afterMs === undefined ? {} : { afterMs: error.afterMs })
    : error;
}
