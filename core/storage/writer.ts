import { AsyncResource } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import { type Logger, messageOf, SvcError } from '../sdk/index.ts';
import type { Failure, FromWriter, Request, Step, StepOrder, ToWriter } from './protocol.ts';
import type { Outcome } from './statements.ts';
import { asUnavailable } from './trouble.ts';

export interface WriterOptions {
  readonly start: () => Worker;
  readonly log: Logger;
  /** A thread that owes an answer for longer is replaced; default 30 000. */
  readonly stallMs?: number;
  /** Told of every failure that SQLite reports. */
  readonly onFailure?: (code: string) => void;
}

/** The writer's thread as the main thread sees it: it is started again when it dies. */
export interface Writer {
  step(step: Step, depth?: number): void;
  query(sql: string, parameters: readonly unknown[], patient?: boolean): Promise<Outcome>;
  commit(): Promise<void>;
  /** Why the group that is open can no longer be committed. */
  lost(): Error | undefined;
  /** Gives unused space back to the disk; only between groups. */
  trim(): Promise<void>;
  /** Why nothing can be written at this moment. */
  down(): string | undefined;
  close(): Promise<void>;
}

interface Owed {
  readonly kind: Request['kind'];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

const longestPauseMs = 30_000;
const healthyMs = 60_000;

export function openWriter({ start, log, stallMs = 30_000, onFailure }: WriterOptions): Writer {
  const owed = new Map<number, Owed>();
  // Threads, timers and answers belong to the storage, not to the request that happened to come first.
  const own = new AsyncResource('svc.storage.writer');
  let thread: Worker | undefined;
  let lastId = 0;
  let down: string | undefined;
  let lost: Error | undefined;
  let pauseMs = 0;
  let restart: NodeJS.Timeout | undefined;
  let closing = false;
  /** Not on their way yet. */
  let steps: StepOrder[] = [];

  function launch(): void {
    steps = [];
    const worker = start();
    const born = performance.now();
    let cause = 'it ended';
    worker.on('message', settle);
    worker.on('error', (error) => {
      cause = messageOf(error);
    });
    worker.on('exit', () => {
      if (thread === worker) {
        thread = undefined;
      }
      if (!closing) {
        fail(cause);
        pauseMs = performance.now() - born > healthyMs ? 0 : Math.min(longestPauseMs, pauseMs * 2 + 100);
        restart = setTimeout(launch, pauseMs);
        restart.unref();
      } else {
        fail('storage is closed');
      }
    });
    thread = worker;
    down = undefined;
  }

  /** Everything owed by a thread that is gone fails; what it had not committed is undone by the next one. */
  function fail(cause: string): void {
    down = `the database writer stopped (${cause}) and is being started again`;
    if (!closing) {
      log.error({ cause, waiting: owed.size }, 'the database writer stopped');
    }
    lost = new SvcError('unavailable', `the database writer stopped (${cause}): nothing of this write was kept. Try again`);
    const unknown = new SvcError(
      'unavailable',
      `the database writer stopped (${cause}) during the commit: look whether this write was kept before you try again`,
    );
    for (const [id, { kind, reject, timer }] of owed) {
      owed.delete(id);
      clearTimeout(timer);
      reject(kind === 'commit' ? unknown : lost);
    }
  }

  function settle(answer: FromWriter): void {
    const request = owed.get(answer.id);
    if (request === undefined) {
      return;
    }
    owed.delete(answer.id);
    clearTimeout(request.timer);
    if ('outcome' in answer) {
      request.resolve({ ...answer.outcome, rows: answer.outcome.rows.map(withBuffers) });
    } else {
      const error = revived(answer.failure);
      if (answer.failure.lost) {
        lost = error;
      }
      if (answer.failure.code !== undefined) {
        onFailure?.(answer.failure.code);
      }
      request.reject(error);
    }
  }

  function post(request: ({ readonly id: number } & Request) | { readonly id?: never }): void {
    const message: ToWriter = { steps, ...request };
    steps = [];
    thread?.postMessage(message);
  }

  function ask(request: Request, patient = false): Promise<Outcome> {
    if (thread === undefined || down !== undefined) {
      return Promise.reject(new SvcError('unavailable', down ?? 'storage is closed'));
    }
    if (lost !== undefined && (request.kind === 'query' || request.kind === 'commit')) {
      return Promise.reject(lost);
    }
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      owed.set(id, { kind: request.kind, resolve, reject, timer: patient ? undefined : own.runInAsyncScope(() => setTimeout(stalled, stallMs)) });
      try {
        post({ id, ...request });
      } catch (error) {
        // A value that cannot cross threads (a function, a proxy) never left this one.
        settle({ id, failure: { message: messageOf(error), code: undefined, lost: false } });
      }
    });
  }

  /** The thread may sit in a system call that never returns: those who wait are told, the exit is seen later. */
  function stalled(): void {
    fail(`no answer for ${stallMs / 1000} s`);
    void thread?.terminate();
  }

  own.runInAsyncScope(launch);

  return {
    step(step, depth = 0) {
      if (step === 'begin') {
        lost = undefined;
      }
      steps.push({ step, depth });
      // Nothing follows it that could take it along.
      if (step === 'rollback') {
        post({});
      }
    },
    query: (sql, parameters, patient) => ask({ kind: 'query', sql, parameters }, patient),
    commit: async () => void (await ask({ kind: 'commit' })),
    trim: async () => void (await ask({ kind: 'trim' }, true)),
    lost: () => lost,
    down: () => down,
    async close() {
      clearTimeout(restart);
      closing = true;
      const last = thread;
      if (last === undefined) {
        return;
      }
      const gone = new Promise((resolve) => last.once('exit', resolve));
      try {
        await ask({ kind: 'close' });
      } finally {
        await gone;
      }
    },
  };
}

/** Errors lose their class between threads; callers look at `code`. */
function revived({ message, code }: Failure): Error {
  return asUnavailable(code === undefined ? new Error(message) : new Database.SqliteError(message, code));
}

/** Bytes cross threads as plain arrays; a read gives Buffers, so a write does too. */
function withBuffers(row: unknown): unknown {
  return Object.fromEntries(
    Object.entries(row as object).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
    ]),
  );
}
