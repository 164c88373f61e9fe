import { AsyncResource } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import { type Logger, messageOf } from '../../sdk/index.ts';
import type { Step, Writer } from '../engine/engine.ts';
import { errors } from '../engine/errors.ts';
import type { Failure, FromWriter, Request, StepOrder, ToWriter } from './protocol.ts';
import type { Outcome } from '../engine/engine.ts';
import { asUnavailable } from './trouble.ts';

interface ThreadOptions {
  readonly start: () => Worker;
  readonly log: Logger;
  /** A thread that owes an answer for longer is replaced; default 30 000. */
  readonly stallMs?: number;
  /** Called with every failure that SQLite reports. */
  readonly onFailure?: (code: string) => void;
}

interface Owed {
  readonly kind: Request['kind'];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

const longestPauseMs = 30_000;
const healthyMs = 60_000;

/** The writer's thread as the main thread sees it: it is started again when it dies. */
export class WriterThread implements Writer {
  readonly #start: () => Worker;
  readonly #log: Logger;
  readonly #stallMs: number;
  readonly #onFailure: ((code: string) => void) | undefined;
  readonly #owed = new Map<number, Owed>();
  // Threads, timers and answers belong to the storage, not to the request that happened to come first.
  readonly #own = new AsyncResource('svc.storage.writer');
  #thread: Worker | undefined;
  #lastId = 0;
  #down: string | undefined;
  #lost: Error | undefined;
  #pauseMs = 0;
  #restart: NodeJS.Timeout | undefined;
  #closing = false;
  /** Steps that are not sent yet. */
  #steps: StepOrder[] = [];

  constructor({ start, log, stallMs = 30_000, onFailure }: ThreadOptions) {
    this.#start = start;
    this.#log = log;
    this.#stallMs = stallMs;
    this.#onFailure = onFailure;
    this.#own.runInAsyncScope(() => this.#launch());
  }

  /** Why nothing can be written at this moment. */
  get down(): string | undefined {
    return this.#down;
  }

  /** Why the group that is open can no longer be committed. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  step(step: Step, depth = 0): void {
    if (step === 'begin') {
      this.#lost = undefined;
    }
    this.#steps.push({ step, depth });
    // Nothing follows it that could take it along.
    if (step === 'rollback') {
      this.#post({});
    }
  }

  query(sql: string, parameters: readonly unknown[], patient?: boolean): Promise<Outcome> {
    return this.#ask({ kind: 'query', sql, parameters }, patient);
  }

  async commit(): Promise<void> {
    await this.#ask({ kind: 'commit' });
  }

  /** Gives unused space back to the disk; only between groups. */
  async trim(checked: boolean): Promise<void> {
    await this.#ask({ kind: 'trim', checked }, true);
  }

  async close(): Promise<void> {
    clearTimeout(this.#restart);
    this.#closing = true;
    const last = this.#thread;
    if (last === undefined) {
      return;
    }
    const gone = new Promise((resolve) => last.once('exit', resolve));
    try {
      await this.#ask({ kind: 'close' });
    } finally {
      await gone;
    }
  }

  #launch(): void {
    this.#steps = [];
    const worker = this.#start();
    const born = performance.now();
    let cause = 'it ended';
    worker.on('message', (answer: FromWriter) => this.#settle(answer));
    worker.on('error', (error) => {
      cause = messageOf(error);
    });
    worker.on('exit', () => {
      if (this.#thread === worker) {
        this.#thread = undefined;
      }
      if (this.#closing) {
        this.#fail('storage is closed');
        return;
      }
      this.#fail(cause);
      this.#pauseMs =
        performance.now() - born > healthyMs
          ? 0
          : Math.min(longestPauseMs, this.#pauseMs * 2 + 100);
      this.#restart = setTimeout(() => this.#launch(), this.#pauseMs).unref();
    });
    this.#thread = worker;
    this.#down = undefined;
  }

  /** Everything owed by a thread that is gone fails; what it had not committed is undone by the next one. */
  #fail(cause: string): void {
    this.#down = `the database writer stopped (${cause}) and is being started again`;
    if (!this.#closing) {
      this.#log.error(
        { event: 'storage.writer_stopped', cause, waiting: this.#owed.size },
        'database writer stopped; restarting it',
      );
    }
    const lost = errors.write_lost({ cause });
    const unknown = errors.commit_unknown({ cause });
    this.#lost = lost;
    for (const [id, { kind, reject, timer }] of this.#owed) {
      this.#owed.delete(id);
      clearTimeout(timer);
      reject(kind === 'commit' ? unknown : lost);
    }
  }

  #settle(answer: FromWriter): void {
    const request = this.#owed.get(answer.id);
    if (request === undefined) {
      return;
    }
    this.#owed.delete(answer.id);
    clearTimeout(request.timer);
    if ('outcome' in answer) {
      request.resolve({ ...answer.outcome, rows: answer.outcome.rows.map(withBuffers) });
      return;
    }
    const { failure } = answer;
    const error = revived(failure);
    if (failure.lost) {
      this.#lost = error;
    }
    if (failure.code !== undefined) {
      this.#onFailure?.(failure.code);
    }
    request.reject(error);
  }

  #post(request: ({ readonly id: number } & Request) | { readonly id?: never }): void {
    const message: ToWriter = { steps: this.#steps, ...request };
    this.#steps = [];
    this.#thread?.postMessage(message);
  }

  #ask(request: Request, patient = false): Promise<Outcome> {
    if (this.#thread === undefined || this.#down !== undefined) {
      return Promise.reject(errors.writer_down({ cause: this.#down ?? 'storage is closed' }));
    }
    if (this.#lost !== undefined && (request.kind === 'query' || request.kind === 'commit')) {
      return Promise.reject(this.#lost);
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = patient
        ? undefined
        : this.#own.runInAsyncScope(() => setTimeout(() => this.#stalled(), this.#stallMs));
      this.#owed.set(id, { kind: request.kind, resolve, reject, timer });
      try {
        this.#post({ id, ...request });
      } catch (error) {
        // A value that cannot cross threads (a function, a proxy) never left this one.
        this.#settle({ id, failure: { message: messageOf(error), code: undefined, lost: false } });
      }
    });
  }

  /**
   * Handles a stalled thread, which may be in a system call that never returns: waiters get an
   * error, the exit is noticed later.
   */
  #stalled(): void {
    this.#fail(`no answer for ${this.#stallMs / 1000} s`);
    void this.#thread?.terminate();
  }
}

/** Errors lose their class between threads; callers look at `code`. */
const revived = ({ message, code }: Failure): Error =>
  asUnavailable(code === undefined ? new Error(message) : new Database.SqliteError(message, code));

/** Bytes cross threads as plain arrays; a read gives Buffers, so a write does too. */
function withBuffers(row: unknown): unknown {
  return Object.fromEntries(
    Object.entries(row as object).map(([column, value]) => [
      column,
      value instanceof Uint8Array
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
        : value,
    ]),
  );
}
