import { type Clock, type Logger, messageOf, patience, type RestartPolicy, restarts, SvcError } from 'svc/sdk';

import { Attempt } from './attempt.ts';
import type { Cause } from './causes.ts';
import type { ChildOrigin } from './program-file.ts';
import { spawnRestricted } from './spawn.ts';
import type { Load } from './wire.ts';

export type ChildState = 'starting' | 'running' | 'backing-off' | 'failed' | 'stopped';

export interface StartOptions {
  /** Names the child in logs and errors. */
  readonly label: string;
  /** CommonJS text whose default export is a `PackDefinition`. */
  readonly code: string;
  /** What stacks and `require` call that text. */
  readonly filename: string;
  readonly origin: ChildOrigin;
  /** Whether it may open connections; default false. */
  readonly network?: boolean;
  /** Settings as they are now; default none. */
  readonly settings?: () => Readonly<Record<string, unknown>>;
  /** Whether a new process starts at once, or waits for `start` to be called; default true. */
  readonly startsAtOnce?: () => boolean;
  /** Answers what the pack asks of svc; default: nothing is answered. */
  readonly serve?: (method: string, input: unknown) => Promise<unknown>;
  /** Folders that the child may read; nothing else, and writing never. */
  readonly read?: readonly string[];
  /** The whole environment of the child. */
  readonly env?: Readonly<Record<string, string>>;
  readonly heapMb?: number;
  readonly rssMb?: number;
  /** Deadline of a call that names none. */
  readonly callMs?: number;
  readonly startMs?: number;
  readonly maxCalls?: number;
  readonly maxPayloadBytes?: number;
  readonly pingMs?: number;
  readonly pollMs?: number;
  /** Between the request to end and the end by force. */
  readonly graceMs?: number;
  readonly restart?: Partial<RestartPolicy>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onState?: (state: ChildState, cause: string | undefined) => void;
}

/** The process of a pack, supervised: limits, a deadline for each call, restarts with back-off. */
export interface Child {
  readonly state: ChildState;
  /** Why it is backing off, failed or stopped. */
  readonly cause: string | undefined;
  readonly pid: number | undefined;
  /** How often it was started again. */
  readonly restarts: number;
  /** The first process has loaded and started its code, or rejects with the reason it could not. */
  readonly ready: Promise<void>;
  call(method: string, input: unknown, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<unknown>;
  /** A setting has changed. */
  tell(key: string, value: unknown): void;
  /** Resolves once no process is left. */
  stop(): Promise<void>;
}

type Defaulted =
  | 'read'
  | 'network'
  | 'settings'
  | 'startsAtOnce'
  | 'serve'
  | 'env'
  | 'heapMb'
  | 'rssMb'
  | 'callMs'
  | 'startMs'
  | 'maxCalls'
  | 'maxPayloadBytes'
  | 'pingMs'
  | 'pollMs'
  | 'graceMs';

const defaults: Required<Pick<StartOptions, Defaulted>> = {
  read: [],
  network: false,
  settings: () => ({}),
  startsAtOnce: () => true,
  serve: (method) => Promise.reject(new SvcError('not_found', `svc answers no ${method} of this pack`)),
  env: {},
  heapMb: 64,
  rssMb: 256,
  callMs: 10_000,
  startMs: 10_000,
  maxCalls: 64,
  maxPayloadBytes: 1024 * 1024,
  pingMs: 5_000,
  pollMs: 500,
  graceMs: 2_000,
};

/** Runs `code` in a process of its own, restricted and watched, and starts it again when it ends by itself. */
export function startChild(options: StartOptions): Child {
  return new SupervisedChild(options);
}

class SupervisedChild implements Child {
  readonly ready: Promise<void>;
  readonly #options: StartOptions & typeof defaults;
  readonly #nextDelay: (at: number, ranMs: number) => number | undefined;
  #state: ChildState = 'starting';
  #cause: string | undefined;
  #restarts = 0;
  /** The process of this moment, or the one on its way. */
  #attempt: Promise<Attempt>;
  #pid: number | undefined;
  /** Calls that came before the process was ready. */
  #waiting = 0;
  #retry: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: StartOptions) {
    this.#options = { ...defaults, ...options };
    this.#nextDelay = restarts({ ...patience, ...options.restart }, this.#options.random);
    this.#attempt = this.#launch();
    this.ready = this.#attempt.then((attempt) => attempt.ready);
    // A caller that does not wait for it reads the state instead.
    this.ready.catch(() => undefined);
  }

  get state(): ChildState {
    return this.#state;
  }

  get cause(): string | undefined {
    return this.#cause;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get restarts(): number {
    return this.#restarts;
  }

  async call(
    method: string,
    input: unknown,
    { timeoutMs = this.#options.callMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const began = this.#options.clock.monotonic();
    if (this.#state === 'starting') {
      await this.#arrival(timeoutMs, signal);
    }
    if (this.#state !== 'running') {
      throw this.#unavailable();
    }
    const left = Math.max(1, Math.ceil(timeoutMs - (this.#options.clock.monotonic() - began)));
    return await (await this.#attempt).call(method, input, { timeoutMs: left, signal });
  }

  tell(key: string, value: unknown): void {
    // A process that is on its way is given them all.
    if (this.#state === 'running') {
      void this.#attempt.then((attempt) => attempt.tell(key, value));
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  /** One process from start to end, and what follows from its end. */
  async #launch(): Promise<Attempt> {
    const { origin, read, env, heapMb, clock } = this.#options;
    const began = clock.monotonic();
    try {
      const spawned = await spawnRestricted(origin, { read, env, heapMb });
      const attempt = new Attempt(spawned, { ...this.#options, load: () => this.#load() });
      this.#pid = attempt.pid;
      void attempt.ready.then(
        () => this.#enter('running', undefined),
        () => undefined,
      );
      void attempt.ended.then((cause) => this.#ended(cause, clock.monotonic() - began));
      return attempt;
    } catch (error) {
      this.#ended({ text: messageOf(error), hopeless: false }, 0);
      throw error;
    }
  }

  #load(): Omit<Load, 'maxPayloadBytes'> {
    const { code, filename, network, settings, startsAtOnce } = this.#options;
    return { code, filename, network, settings: settings(), start: startsAtOnce() };
  }

  #ended(cause: Cause, ranMs: number): void {
    this.#pid = undefined;
    if (this.#state === 'stopped') {
      return;
    }
    const delay = cause.hopeless ? undefined : this.#nextDelay(this.#options.clock.monotonic(), ranMs);
    this.#options.log.warn(
      { event: 'packs.process_ended', child: this.#options.label, cause: cause.text, retry_ms: delay },
      `${this.#options.label} ended: ${cause.text}`,
    );
    if (delay === undefined) {
      this.#enter('failed', cause.text);
      return;
    }
    this.#retry = setTimeout(() => this.#again(), delay);
    this.#enter('backing-off', cause.text);
  }

  #again(): void {
    this.#restarts += 1;
    this.#enter('starting', this.#cause);
    this.#attempt = this.#launch();
    // `#ended` has already drawn the consequences.
    this.#attempt.catch(() => undefined);
  }

  /** Decommissions first, so that the end of the process is not taken for a crash. */
  async #end(): Promise<void> {
    clearTimeout(this.#retry);
    this.#enter('stopped', undefined);
    const attempt = await this.#attempt.catch(() => undefined);
    await attempt?.terminate(this.#options.graceMs);
  }

  #enter(state: ChildState, cause: string | undefined): void {
    if (this.#state === 'stopped') {
      return;
    }
    this.#state = state;
    this.#cause = cause;
    this.#options.onState?.(state, cause);
  }

  /** Waits for a child that is on its way, no longer than the call may take and never in a crowd. */
  async #arrival(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#options.maxCalls) {
      throw this.#unavailable();
    }
    this.#waiting += 1;
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    try {
      await Promise.race([
        this.#attempt.then((attempt) => attempt.ready),
        new Promise((_resolve, reject) => {
          timer = setTimeout(() => reject(this.#unavailable()), timeoutMs);
          onAbort = () => reject(signal?.reason as Error);
          signal?.addEventListener('abort', onAbort, { once: true });
        }),
      ]);
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort!);
    }
  }

  #unavailable(): SvcError {
    const why = this.#cause === undefined ? '' : `: ${this.#cause}`;
    return new SvcError('unavailable', `${this.#options.label} is ${this.#state}${why}`, { retryAfterSeconds: 5 });
  }
}
