import type { SvcError } from 'svc/sdk';
import { messageOf, patience, restarts } from 'svc/sdk';

import type { Load } from '../wire/wire.ts';
import { Attempt } from './attempt.ts';
import type { Cause, CauseKind } from './causes.ts';
import { type Child, type ChildState, defaults, type StartOptions } from './child-options.ts';
import { errors } from './errors.ts';
import type { CallOptions } from './open-call.ts';
import { spawnRestricted } from './spawn.ts';

/**
 * Runs `code` in a separate process, restricted and watched, and restarts it if it ends
 * unexpectedly.
 */
export function startChild(options: StartOptions): Child {
  return new SupervisedChild(options);
}

class SupervisedChild implements Child {
  readonly ready: Promise<void>;
  readonly #options: StartOptions & typeof defaults;
  readonly #nextDelay: (at: number, ranMs: number) => number | undefined;
  #state: ChildState;
  #cause: Cause | undefined;
  #restarts = 0;
  /** The process of this moment, or the one on its way. */
  #attempt: Promise<Attempt> | undefined;
  #pid: number | undefined;
  /** Calls that came before the process was ready. */
  #waiting = 0;
  #usedAt = 0;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Exit of a process that was put to sleep and has not ended yet. */
  #leaving: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: StartOptions) {
    this.#options = { ...defaults, ...options };
    this.#nextDelay = restarts({ ...patience, ...options.restart }, this.#options.random);
    this.#state = this.#options.startsAsleep ? 'asleep' : 'starting';
    if (this.#state === 'starting') {
      this.#attempt = this.#launch();
    }
    this.ready = Promise.resolve(this.#attempt).then((attempt) => attempt?.ready);
    // A caller that does not wait for it reads the state instead.
    this.ready.catch(() => undefined);
  }

  get state(): ChildState {
    return this.#state;
  }

  get cause(): string | undefined {
    return this.#cause?.text;
  }

  get causeKind(): CauseKind | undefined {
    return this.#cause?.kind;
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
    { timeoutMs = this.#options.callMs, signal, ...bodies }: Partial<CallOptions> = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const began = this.#options.clock.monotonic();
    this.#usedAt = began;
    if (this.#state === 'asleep') {
      this.#enter('starting', undefined);
      this.#attempt = this.#launch();
      this.#attempt.catch(() => undefined);
    }
    if (this.#state === 'starting') {
      await this.#arrival(timeoutMs, signal);
    }
    if (this.#state !== 'running') {
      throw this.#unavailable();
    }
    const left = Math.max(1, Math.ceil(timeoutMs - (this.#options.clock.monotonic() - began)));
    return await (await this.#attempt!).call(method, input, { ...bodies, timeoutMs: left, signal });
  }

  tell(key: string, value: unknown): void {
    // A process that is on its way is given them all.
    if (this.#state === 'running') {
      void this.#attempt?.then((attempt) => attempt.tell(key, value));
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  /** One process from start to end, and what follows from its end. */
  async #launch(): Promise<Attempt> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    try {
      const attempt = new Attempt(await spawnRestricted(this.#options.origin, this.#options), {
        ...this.#options,
        load: () => this.#load(),
      });
      this.#pid = attempt.pid;
      void attempt.ready.then(
        () => this.#up(attempt),
        () => undefined,
      );
      void attempt.ended.then((cause) =>
        this.#ended(cause, clock.monotonic() - began, attempt.pid),
      );
      return attempt;
    } catch (error) {
      this.#ended({ kind: 'not-started', text: messageOf(error), hopeless: false }, 0, this.#pid);
      throw error;
    }
  }

  #load(): Omit<Load, 'maxPayloadBytes'> {
    const { code, filename, network, described, settings, startsAtOnce } = this.#options;
    return {
      code,
      filename,
      network,
      ...(described && { described }),
      settings: settings(),
      start: startsAtOnce(),
    };
  }

  #up(attempt: Attempt): void {
    this.#enter('running', undefined);
    this.#options.onUp?.(attempt.isResident);
    if (!attempt.isResident && this.#state === 'running') {
      this.#sleepAfter(attempt, this.#options.idleMs);
    }
  }

  #sleepAfter(attempt: Attempt, ms: number): void {
    this.#idle = setTimeout(() => {
      const { clock, idleMs, graceMs } = this.#options;
      const left =
        attempt.isBusy || this.#waiting > 0 ? idleMs : this.#usedAt + idleMs - clock.monotonic();
      if (left > 0) {
        this.#sleepAfter(attempt, left);
        return;
      }
      this.#pid = undefined;
      this.#enter('asleep', undefined);
      this.#leaving = attempt
        .terminate(graceMs)
        .catch((error: unknown) =>
          this.#options.log.error(
            { event: 'packs.idle_not_ended', cause: messageOf(error) },
            'failed to stop an idle pack process',
          ),
        );
    }, ms).unref();
  }

  #ended(cause: Cause, ranMs: number, pid: number | undefined): void {
    // One that was put to sleep has been left already.
    if (this.#pid !== pid) {
      return;
    }
    this.#pid = undefined;
    clearTimeout(this.#idle);
    if (this.#state === 'stopped') {
      return;
    }
    const { log, label, clock } = this.#options;
    const delay = cause.hopeless ? undefined : this.#nextDelay(clock.monotonic(), ranMs);
    log.warn(
      {
        event: 'packs.process_ended',
        child: label,
        kind: cause.kind,
        cause: cause.text,
        retry_ms: delay,
      },
      `${label} stopped: ${cause.text}`,
    );
    if (delay === undefined) {
      this.#enter('failed', cause);
      return;
    }
    this.#retry = setTimeout(() => this.#again(), delay);
    this.#enter('backing-off', cause);
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
    clearTimeout(this.#idle);
    this.#enter('stopped', undefined);
    const attempt = await this.#attempt?.catch(() => undefined);
    await attempt?.terminate(this.#options.graceMs);
    await this.#leaving;
  }

  #enter(state: ChildState, cause: Cause | undefined): void {
    if (this.#state === 'stopped') {
      return;
    }
    this.#state = state;
    this.#cause = cause;
    this.#options.onState?.(state, cause?.text);
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
        this.#attempt!.then((attempt) => attempt.ready),
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
    const why = this.#cause === undefined ? '' : `: ${this.#cause.text}`;
    return errors.pack_state(
      { label: this.#options.label, state: this.#state, why },
      { retryAfterSeconds: 5 },
    );
  }
}
