import { TokenBucket } from 'svc/flow';

import { frameType, ProtocolViolation } from '../message/frames.ts';
import type { TunnelLimits } from '../message/limits.ts';
import type { Cancel } from '../message/sweeper.ts';
import type { Wire } from './wire.ts';

const pingsPerSecond = 5;
const pingBurst = 20;

/**
 * Check of whether the other side is alive, and still reads. The edge pings; the manager only
 * watches.
 */
export class Liveness {
  readonly #wire: Wire;
  readonly #lost: (reason: string) => void;
  #pace: Pick<TunnelLimits, 'pingMs' | 'missedPings'>;
  #cancel: Cancel;
  #stall: Cancel | undefined;
  #pings: TokenBucket | undefined;
  #pingedAt = 0;
  #unanswered = 0;
  lastHeardAt: number;
  rttMs: number | undefined;

  constructor(wire: Wire, lost: (reason: string) => void) {
    this.#wire = wire;
    this.#lost = lost;
    this.#pace = wire.limits;
    this.lastHeardAt = this.#now();
    this.#cancel = wire.options.side === 'edge' ? this.#pingLater() : this.#watch(this.#silentMs());
  }

  pingEvery(pingMs: number, missedPings: number): void {
    if (pingMs !== this.#pace.pingMs || missedPings !== this.#pace.missedPings) {
      this.#pace = { pingMs, missedPings };
      this.#cancel();
      this.#cancel = this.#pingLater();
    }
  }

  heard(): void {
    this.lastHeardAt = this.#now();
  }

  /** Pings are cheap to send and cost an answer. */
  pinged(): void {
    this.#pings ??= new TokenBucket(pingBurst, this.lastHeardAt);
    if (!this.#pings.take(pingsPerSecond, pingBurst, this.lastHeardAt)) {
      throw new ProtocolViolation('a flood of pings');
    }
  }

  ponged(): void {
    if (this.#unanswered > 0) {
      this.#unanswered = 0;
      this.rttMs = this.lastHeardAt - this.#pingedAt;
    }
  }

  /** Much is unsent. */
  crowded(bufferedBytes: number): void {
    const { limits, options, peer } = this.#wire;
    if (bufferedBytes > limits.maxBytes) {
      this.#lost(`${peer} does not read: ${bufferedBytes} bytes wait for it`);
      return;
    }
    this.#stall ??= options.sweeper.after(limits.stalledMs, () =>
      this.#lost(`${peer} has not read for ${limits.stalledMs} ms`),
    );
  }

  drained(): void {
    if (this.#stall && this.#wire.bufferedBytes < this.#wire.limits.highBytes) {
      this.#stall();
      this.#stall = undefined;
    }
  }

  stop(): void {
    this.#cancel();
    this.#stall?.();
  }

  #pingLater(): Cancel {
    const { options } = this.#wire;
    return options.sweeper.after(this.#pace.pingMs * (0.8 + 0.4 * options.random()), () => {
      if (this.#unanswered >= this.#pace.missedPings) {
        this.#lost(`the manager has not answered ${this.#unanswered} pings`);
        return;
      }
      this.#unanswered += 1;
      this.#pingedAt = this.#now();
      this.#wire.send(frameType.ping, 0);
      this.#cancel = this.#pingLater();
    });
  }

  #watch(ms: number): Cancel {
    return this.#wire.options.sweeper.after(ms, () => {
      const left = this.lastHeardAt + this.#silentMs() - this.#now();
      if (left <= 0) {
        this.#lost('the edge has been silent for too long');
      } else {
        this.#cancel = this.#watch(left);
      }
    });
  }

  #silentMs(): number {
    const { pingMs, missedPings } = this.#pace;
    return pingMs * missedPings * 1.2;
  }

  #now(): number {
    return this.#wire.options.sweeper.clock.monotonic();
  }
}
