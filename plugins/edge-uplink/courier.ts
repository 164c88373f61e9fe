import type { Clock, Logger, Scope } from 'svc/sdk';

import type { DiskBuffer, Lane } from './buffer/disk-buffer.ts';
import type { Next } from './buffer/queue.ts';
import { Pace } from './pace.ts';
import { Pause } from './pause.ts';
import type { PushOutcome } from './push.ts';

export interface CourierOptions {
  readonly lane: Lane;
  readonly buffer: DiskBuffer;
  readonly clock: Clock;
  readonly scope: Scope;
  readonly log: Logger;
  readonly random: () => number;
  /** One record on its way. Resolves with 'later' while it cannot be sent, never throws. */
  readonly send: (next: Next, signal: AbortSignal) => Promise<PushOutcome>;
}

const firstMs = 1_000;
const maxMs = 60_000;
/** Interval at which idle couriers look; a new record wakes them. */
const idleMs = 60_000;
/** Time after which unsent data counts as waiting, and new data goes first. */
const waitedMs = 15_000;

/** Carries one lane to the manager, a record at a time, so that its order is kept. */
export class Courier {
  readonly #options: CourierOptions;
  readonly #pace: Pace;
  readonly #pause: Pause;
  #failures = 0;
  #failingSince: number | undefined;
  lastProblem: string | undefined;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#pace = new Pace(options.clock);
    this.#pause = new Pause(options.scope, `courier of ${options.lane}`);
    options.buffer.onPut(
      options.lane,
      () => this.#failingSince === undefined && this.#pause.wake(),
    );
  }

  /** The way may be open again: tries at once. */
  nudge(): void {
    this.#failures = 0;
    this.#pause.wake();
  }

  /** Sends until the scope ends. */
  async run(signal: AbortSignal): Promise<void> {
    const { buffer, lane, send } = this.#options;
    while (!signal.aborted) {
      const patience = buffer.hasWaited(lane) ? this.#pace.waitMs() : idleMs;
      const next = await buffer.next(lane, patience === 0);
      if (!next) {
        await this.#pause.wait(patience);
        continue;
      }
      const outcome = await send(next, signal);
      if (signal.aborted && outcome.kind === 'later') {
        return;
      }
      await this.#settle(next, outcome);
    }
  }

  async #settle(next: Next, outcome: PushOutcome): Promise<void> {
    const { buffer, lane, log } = this.#options;
    if (outcome.kind === 'later') {
      await this.#wait(outcome.reason, outcome.afterMs);
      return;
    }
    if (outcome.kind === 'refused') {
      log.warn(
        {
          event: 'uplink.data_refused',
          lane,
          items: next.record.head.items,
          to: next.record.head.to,
          reason: outcome.reason,
        },
        'manager rejected data; dropped it',
      );
      await buffer.refused(lane, next);
    } else {
      await buffer.left(lane, next);
      this.#pace[next.replayed ? 'sentReplay' : 'sentLive'](next.bytes);
    }
    await this.#recovered();
  }

  async #wait(reason: string, afterMs: number | undefined): Promise<void> {
    const { clock, log, lane, random } = this.#options;
    if (this.#failingSince === undefined) {
      log.warn(
        { event: 'uplink.send_failed', lane, reason },
        'failed to send to the manager; queued on disk for retry',
      );
    }
    this.#failingSince ??= clock.monotonic();
    this.lastProblem = reason;
    const full = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    // A delay requested by the manager is spread as well, so that many edges do not come at once.
    await this.#pause.wait(
      afterMs === undefined ? full * (0.5 + random() / 2) : afterMs + random() * 1_000,
    );
  }

  async #recovered(): Promise<void> {
    const { buffer, clock, lane, log } = this.#options;
    const since = this.#failingSince;
    this.#failures = 0;
    this.#failingSince = undefined;
    this.lastProblem = undefined;
    if (since !== undefined) {
      log.info({ lane }, 'sending to the manager works again');
      if (clock.monotonic() - since > waitedMs) {
        await buffer.markWaiting(lane);
      }
    }
  }
}
