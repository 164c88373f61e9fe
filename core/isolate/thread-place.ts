import { AsyncResource } from 'node:async_hooks';

import {
  type Disposer,
  messageOf,
  restarts,
  type ThreadCall,
  type ThreadHandle,
  type ThreadNotice,
} from '../sdk/index.ts';
import { errors } from './errors.ts';
import { Ticket } from './thread-calls.ts';
import { type TenantOptions, ThreadRun } from './thread-run.ts';

/** Calls of one place that may be open at once, waiting ones included. */
const maxCalls = 10_000;
const usualTimeoutMs = 30_000;

/** A thread that runs, or waits for its next try, for one tenant. */
interface Seat {
  readonly tenant: Tenant;
  run: ThreadRun | undefined;
  open: boolean;
  /** True when it is leaving: it takes no further calls. */
  leaving: boolean;
  cause: string | undefined;
  retry: NodeJS.Timeout | undefined;
  retryAt: number;
  /** Callbacks for when the thread is gone. */
  readonly onLeft: (() => void)[];
}

/**
 * Place in which the thread of one name of one plugin runs. Every generation is a tenant; the
 * newest one that has begun has the place, and gets it once its predecessor's thread is closed: two
 * never run at once. When it leaves, an earlier one that is still there has its thread started
 * again.
 */
export class ThreadPlace {
  readonly #own = new AsyncResource('svc.thread');
  readonly #onEmpty: () => void;
  readonly #tenants = new Set<Tenant>();
  /** Begun, oldest first. */
  readonly #begun: Tenant[] = [];
  readonly #waiting = new Map<Ticket, Tenant>();
  #seat: Seat | undefined;
  #settling = false;

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  /** Threads at this moment, including those that are ending. */
  get threads(): number {
    return this.#seat?.run ? 1 : 0;
  }

  tenant(options: TenantOptions): Tenant {
    const tenant = new Tenant(options, this);
    this.#tenants.add(tenant);
    return tenant;
  }

  begin(tenant: Tenant): void {
    tenant.begun = true;
    this.#begun.push(tenant);
    this.#settle();
  }

  /** Ends its thread until it is needed again; not while there are calls to answer. */
  rest(tenant: Tenant): void {
    if (this.#waiting.size + (this.#seat?.run?.busy ?? 0) === 0) {
      tenant.begun = false;
      this.#withdraw(tenant);
    }
  }

  #withdraw(tenant: Tenant): void {
    const at = this.#begun.indexOf(tenant);
    void (at !== -1 && this.#begun.splice(at, 1));
    this.#settle();
  }

  /** Resolves once no thread of this tenant is left. */
  async leave(tenant: Tenant): Promise<void> {
    this.#tenants.delete(tenant);
    const seat = this.#seat;
    this.#withdraw(tenant);
    if (seat?.tenant === tenant && this.#seat === seat) {
      await new Promise<void>((resolve) => seat.onLeft.push(resolve));
    }
    this.#forsake(tenant);
    if (this.#tenants.size === 0 && this.#seat === undefined) {
      this.#onEmpty();
    }
  }

  stateOf(tenant: Tenant): {
    readonly state: ThreadHandle['state'];
    readonly cause: string | undefined;
    readonly retryInMs: number;
  } {
    const seat = this.#seat;
    if (!this.#tenants.has(tenant)) {
      return { state: 'stopped', cause: undefined, retryInMs: 0 };
    }
    if (seat?.tenant !== tenant || seat.leaving) {
      return { state: 'waiting', cause: undefined, retryInMs: 0 };
    }
    const state = seat.open ? 'running' : seat.run ? 'starting' : 'backing-off';
    return {
      state,
      cause: seat.cause,
      retryInMs: seat.run ? 0 : Math.max(0, seat.retryAt - performance.now()),
    };
  }

  async call(
    tenant: Tenant,
    method: string,
    input: unknown,
    { timeoutMs = usualTimeoutMs, signal, transfer = [] }: ThreadCall,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const { label } = tenant.options;
    const { state, cause, retryInMs } = this.stateOf(tenant);
    if (state === 'stopped' || (state === 'backing-off' && retryInMs >= timeoutMs)) {
      const retryAfterSeconds = Math.max(1, Math.ceil(retryInMs / 1000));
      throw errors.thread_down(
        { label, state, cause: cause === undefined ? '.' : `: it ${cause}.` },
        { retryAfterSeconds },
      );
    }
    if (this.#waiting.size + (this.#seat?.run?.busy ?? 0) >= maxCalls) {
      throw errors.calls_taken({ label, max: maxCalls }, { retryAfterSeconds: 1 });
    }
    const ticket = new Ticket(method, input, { timeoutMs, signal, transfer }, () =>
      this.#late(tenant, method, timeoutMs),
    );
    if (!this.#offer(ticket, tenant)) {
      this.#waiting.set(ticket, tenant);
      ticket.onGivenUp = () => this.#waiting.delete(ticket);
    }
    return await ticket.result;
  }

  /**
   * Offers a call to the open thread; a newcomer's calls never go to its predecessor's thread, but
   * the reverse is allowed.
   */
  #offer(ticket: Ticket, tenant: Tenant): boolean {
    const seat = this.#seat;
    if (!seat?.open || seat.leaving || seat.run === undefined || !tenant.begun) {
      return false;
    }
    seat.run.take(ticket);
    return true;
  }

  #late(tenant: Tenant, method: string, timeoutMs: number): Error {
    const { state, cause } = this.stateOf(tenant);
    const why =
      state === 'running'
        ? '.'
        : `: it is ${state}${cause === undefined ? '' : `, because it ${cause}`}.`;
    return errors.call_late(
      { label: tenant.options.label, method, ms: timeoutMs, cause: why },
      { retryAfterSeconds: 1 },
    );
  }

  /** Passes waiters of a tenant that is gone to another one, if there is any. */
  #forsake(tenant: Tenant): void {
    for (const [ticket, whose] of this.#waiting) {
      if (whose === tenant && (!tenant.begun || this.#begun.length === 0)) {
        this.#waiting.delete(ticket);
        ticket.settle({
          error: errors.thread_ended(
            { label: tenant.options.label },
            {
              retryAfterSeconds: 1,
            },
          ),
        });
      }
    }
  }

  /** Aligns the holder of the place with who should have it. */
  #settle(): void {
    if (!this.#settling) {
      this.#settling = true;
      this.#own.runInAsyncScope(() => void this.#takeTurns());
    }
  }

  async #takeTurns(): Promise<void> {
    for (let next = this.#begun.at(-1); this.#seat?.tenant !== next; next = this.#begun.at(-1)) {
      const seat = this.#seat;
      if (seat) {
        seat.leaving = true;
        clearTimeout(seat.retry);
        await seat.run?.close(seat.tenant.options.drainMs);
        this.#seat = undefined;
        seat.onLeft.forEach((left) => left());
      } else if (next) {
        this.#seat = {
          tenant: next,
          run: undefined,
          open: false,
          leaving: false,
          cause: undefined,
          retry: undefined,
          retryAt: 0,
          onLeft: [],
        };
        this.#launch(this.#seat);
      }
    }
    this.#settling = false;
  }

  #launch(seat: Seat): void {
    const { options } = seat.tenant;
    const began = performance.now();
    try {
      seat.run = new ThreadRun({ ...options, onNotice: (notice) => seat.tenant.hear(notice) });
    } catch (error) {
      this.#ended(seat, messageOf(error), 0);
      return;
    }
    void seat.run.ended.then((cause) => this.#ended(seat, cause, performance.now() - began));
    void seat.run.opened.then(
      () => this.#opened(seat),
      (error: unknown) => seat.tenant.failed(error),
    );
  }

  #opened(seat: Seat): void {
    if (seat.leaving) {
      return;
    }
    seat.open = true;
    seat.cause = undefined;
    seat.tenant.succeeded();
    for (const [ticket, tenant] of this.#waiting) {
      if (this.#offer(ticket, tenant)) {
        this.#waiting.delete(ticket);
      }
    }
  }

  #ended(seat: Seat, cause: string, ranMs: number): void {
    seat.run = undefined;
    seat.open = false;
    if (seat.leaving) {
      return;
    }
    const { tenant } = seat;
    const pauseMs = tenant.nextPause(performance.now(), ranMs);
    seat.cause = cause;
    seat.retryAt = performance.now() + pauseMs;
    seat.retry = setTimeout(() => this.#launch(seat), pauseMs);
    seat.retry.unref();
    tenant.options.log.warn(
      { event: 'thread.ended', cause, retry_ms: Math.round(pauseMs) },
      `${tenant.options.label} ended: it ${cause}`,
    );
    tenant.options.onStumble(cause);
  }
}

/** One generation's right to a place, and what it holds of it. */
export class Tenant implements ThreadHandle {
  readonly options: TenantOptions;
  /**
   * Resolves when its thread has opened for the first time; rejects with the reason if it ended
   * instead.
   */
  readonly ready: Promise<void>;
  /** Returns how long to wait after an end at `at` (monotonic) of a thread that ran so long. */
  readonly nextPause: (at: number, ranMs: number) => number;
  readonly #place: ThreadPlace;
  readonly #listeners = new Set<(notice: ThreadNotice) => void>();
  begun = false;
  #serves = false;
  #idle: NodeJS.Timeout | undefined;
  #settleReady!: { resolve: () => void; reject: (error: unknown) => void };

  constructor(options: TenantOptions, place: ThreadPlace) {
    this.options = options;
    this.#place = place;
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    this.ready.catch(() => undefined);
    const pauses = restarts(options.restart, options.random);
    this.nextPause = (at, ranMs) => pauses(at, ranMs) ?? options.restart.maxMs;
  }

  get state(): ThreadHandle['state'] {
    return this.#place.stateOf(this).state;
  }

  /** Why its thread ended last, as long as it has not opened again. */
  get cause(): string | undefined {
    return this.#place.stateOf(this).cause;
  }

  call<R>(method: string, input?: unknown, options: ThreadCall = {}): Promise<R> {
    this.#wake();
    return this.#place.call(this, method, input, options) as Promise<R>;
  }

  onNotice(listener: (notice: ThreadNotice) => void): Disposer {
    const own = (notice: ThreadNotice): void => listener(notice);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  begin(): void {
    this.#serves = true;
    if (this.options.idleMs === undefined || this.#idle !== undefined) {
      this.#place.begin(this);
    } else {
      this.#settleReady.resolve();
    }
  }

  /** Starts a thread that runs for calls alone, at the first one, once its generation serves. */
  #wake(): void {
    if (this.options.idleMs !== undefined && this.state !== 'stopped') {
      this.#idle =
        this.#idle?.refresh() ??
        setInterval(() => this.begun && this.#place.rest(this), this.options.idleMs).unref();
      void (this.#serves && !this.begun && this.#place.begin(this));
    }
  }

  async release(): Promise<void> {
    clearInterval(this.#idle);
    await this.#place.leave(this);
    this.#listeners.clear();
    this.#settleReady.resolve();
  }

  hear(notice: ThreadNotice): void {
    for (const listener of this.#listeners) {
      this.options.deliver(() => listener(notice));
    }
  }

  succeeded(): void {
    this.#settleReady.resolve();
  }

  failed(error: unknown): void {
    this.#settleReady.reject(error);
  }
}
