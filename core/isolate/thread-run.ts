import type { Worker } from 'node:worker_threads';

import {
  type Logger,
  messageOf,
  type RestartPolicy,
  type ThreadNotice,
  withDeadline,
} from '../sdk/index.ts';
import { errors } from './errors.ts';
import { ThreadCalls, type Ticket } from './thread-calls.ts';
import {
  type CarriedError,
  type FromThread,
  heardEvery,
  revived,
  type ToThread,
} from './thread-wire.ts';

export interface RunOptions {
  /** Names the thread in sentences: `thread metrics of metricsdb`. */
  readonly label: string;
  /** Starts the worker itself. */
  readonly start: () => Worker;
  readonly heapMb: number;
  /** Returns the offset of svc's clock from the system's. */
  readonly skewMs: () => number;
  readonly mapped: (stack: string) => string;
  readonly timing: ThreadTiming;
  readonly log: Logger;
  readonly onNotice: (notice: ThreadNotice) => void;
  readonly onHeap: (bytes: number) => void;
}

export interface ThreadTiming {
  /** A thread may take this long to open: it may have a log to read. */
  readonly openMs: number;
  /** Interval of pings; below, the silence after which it counts as stuck. */
  readonly pingMs: number;
  readonly stuckMs: number;
}

/** Thread that one generation wants to run in a place. */
export interface TenantOptions extends Omit<RunOptions, 'onNotice'> {
  /** Time for the thread to close before it is ended. */
  readonly drainMs: number;
  readonly restart: RestartPolicy;
  readonly random: () => number;
  /** Idle time after which a thread that runs for calls alone ends. */
  readonly idleMs?: number | undefined;
  /** Called when the thread ended unexpectedly, and is restarted. */
  readonly onStumble: (cause: string) => void;
  /** Runs what listens to notices, on the plugin's account. */
  readonly deliver: (work: () => void) => void;
}

/** One thread from its start to its end. */
export class ThreadRun {
  /** Resolves once the service is open; rejects when the thread ends before. */
  readonly opened: Promise<void>;
  /** Resolves with the cause once no thread is left. */
  readonly ended: Promise<string>;
  readonly #options: RunOptions;
  readonly #worker: Worker;
  readonly #calls: ThreadCalls;
  #settleOpened!: { resolve: () => void; reject: (error: Error) => void };
  #resolveClosed!: () => void;
  readonly #closed: Promise<void>;
  #failure: NodeJS.ErrnoException | undefined;
  #verdict: string | undefined;
  #unheard = 0;
  #heardAt: number;
  #watch: NodeJS.Timeout;

  constructor(options: RunOptions) {
    this.#options = options;
    this.opened = new Promise((resolve, reject) => (this.#settleOpened = { resolve, reject }));
    this.opened.catch(() => undefined);
    this.#closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#heardAt = performance.now();
    this.#worker = options.start();
    this.#calls = new ThreadCalls(options.label, options.skewMs, (message, transfer = []) =>
      this.#worker.postMessage(message, transfer),
    );
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('error', (error) => (this.#failure = error));
    this.ended = new Promise((resolve) =>
      this.#worker.once('exit', (code) => resolve(this.#bury(code))),
    );
    this.#watch = setTimeout(
      () => this.kill(`did not open within ${options.timing.openMs} ms`),
      options.timing.openMs,
    );
    this.#watch.unref();
  }

  /** Sends a call off. */
  take(ticket: Ticket): void {
    this.#calls.send(ticket);
  }

  get busy(): number {
    return this.#calls.size;
  }

  /** Ends the thread at once. */
  kill(cause: string): void {
    this.#verdict ??= cause;
    void this.#worker.terminate();
  }

  /** Lets its calls end and its service close, for `graceMs` in all; then it ends in any case. */
  async close(graceMs: number): Promise<void> {
    this.#verdict ??= 'it was closed';
    clearTimeout(this.#watch);
    this.#say({ t: 'close', graceMs: graceMs / 2 });
    await withDeadline<unknown>(Promise.race([this.#closed, this.ended]), graceMs, () =>
      this.#options.log.warn(
        { event: 'threads.close_late' },
        `${this.#options.label} did not close within ${graceMs} ms and was ended`,
      ),
    );
    this.kill('it was closed');
    await this.ended;
  }

  #hear(message: FromThread): void {
    this.#heardAt = performance.now();
    switch (message.t) {
      case 'opened':
        clearTimeout(this.#watch);
        this.#watch = setInterval(() => this.#look(), this.#options.timing.pingMs);
        this.#watch.unref();
        this.#settleOpened.resolve();
        return;
      case 'unopened':
        this.#failure = this.#revived(message.error);
        this.kill(`could not open: ${message.error.message}`);
        return;
      case 'reply':
        this.#calls.hear(
          message.id,
          message.error ? { error: this.#revived(message.error) } : { value: message.value },
        );
        return;
      case 'notice':
        this.#count();
        this.#options.onNotice({ kind: message.kind, value: message.value });
        return;
      case 'log':
        this.#count();
        this.#options.log[message.level](message.fields, message.message);
        return;
      case 'pong':
        this.#options.onHeap(message.heapBytes);
        return;
      case 'closed':
        if (message.error) {
          this.#options.log.error(
            { event: 'thread.close_failed', error: this.#revived(message.error) },
            `${this.#options.label} failed to close`,
          );
        }
        this.#resolveClosed();
    }
  }

  #revived({ stack, ...error }: CarriedError): Error {
    return revived({
      ...error,
      stack: stack === undefined ? undefined : this.#options.mapped(stack),
    });
  }

  /** A thread that is silent although it was asked runs in a loop, or hangs in the system. */
  #look(): void {
    const { pingMs, stuckMs } = this.#options.timing;
    const silentMs = performance.now() - this.#heardAt;
    if (silentMs > stuckMs + pingMs) {
      // When it was this thread that stood still, the answer is already here and is read before this runs.
      setImmediate(
        () =>
          performance.now() - this.#heardAt > stuckMs &&
          this.kill(`did not answer for ${stuckMs} ms, as in an endless loop`),
      );
    }
    this.#say({ t: 'ping', skewMs: this.#options.skewMs() });
  }

  #count(): void {
    this.#unheard += 1;
    if (this.#unheard === heardEvery) {
      this.#unheard = 0;
      this.#say({ t: 'heard', count: heardEvery });
    }
  }

  #bury(code: number): string {
    clearTimeout(this.#watch);
    const cause = this.#verdict ?? this.#causeOf(code);
    this.#calls.end(cause);
    this.#settleOpened.reject(
      errors.thread_failed(
        { label: this.#options.label, cause },
        {
          retryAfterSeconds: 5,
          cause: this.#failure,
        },
      ),
    );
    return cause;
  }

  #causeOf(code: number): string {
    if (this.#failure?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return `out of memory: the heap grew beyond ${this.#options.heapMb} MB`;
    }
    if (this.#failure === undefined) {
      return `exited with code ${code}`;
    }
    this.#options.log.error(
      { event: 'thread.died', error: this.#failure },
      `${this.#options.label} died: ${messageOf(this.#failure)}`,
    );
    return `died of an uncaught error: ${messageOf(this.#failure)}`;
  }

  #say(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
