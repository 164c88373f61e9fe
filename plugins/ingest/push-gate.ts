import { TokenBucket } from 'svc/flow';
import type { Arrival, Clock, BodyQuota, Principal } from 'svc/sdk';

import { errors } from './errors.ts';
import type { IngestMetrics } from './ingest-metrics.ts';
import type { PushLimits } from './limits.ts';

export interface GateParts {
  readonly limits: () => PushLimits;
  readonly clock: Clock;
  readonly metrics: IngestMetrics;
}

interface Sender {
  readonly bytes: TokenBucket;
  readonly requests: TokenBucket;
  inFlight: number;
}

/** Max senders stored; the one that was idle longest is dropped. */
const maxSenders = 10_000;

/**
 * Decides whether a body may come in before it is in memory: what all of them hold together is bounded, no sender holds
 * more than half of that, and none pushes faster than the settings allow.
 */
export class PushGate {
  readonly #parts: GateParts;
  readonly #senders = new Map<string, Sender>();
  #inFlight = 0;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  enter({ principal, announcedBytes = 0 }: Arrival): BodyQuota {
    const { clock, limits } = this.#parts;
    const now = clock.monotonic();
    const { bytes, requests } = limits();
    const sender = this.#senderOf(principal, now);
    this.#demandPace('requests', sender.requests.wait(requests.rate, requests.burst, now));
    this.#demandPace('bytes', sender.bytes.wait(bytes.rate, bytes.burst, now));
    this.#demandRoom(sender, announcedBytes);
    sender.requests.spend(1);
    let held = 0;
    const hold = (amount: number): void => {
      held += amount;
      sender.inFlight += amount;
      this.#inFlight += amount;
      this.#parts.metrics.inFlight(this.#inFlight);
    };
    return {
      reserve: (amount) => {
        this.#demandRoom(sender, amount);
        sender.bytes.spend(amount);
        hold(amount);
      },
      release: () => hold(-held),
    };
  }

  #demandPace(what: 'bytes' | 'requests', seconds: number): void {
    if (seconds > 0) {
      this.#parts.metrics.limited(what);
      throw errors.too_fast({ what, seconds: Math.ceil(seconds) }, { retryAfterSeconds: seconds });
    }
  }

  #demandRoom(sender: Sender, bytes: number): void {
    const { bytesInFlight, bytesInFlightOfOne } = this.#parts.limits();
    if (this.#inFlight + bytes > bytesInFlight || sender.inFlight + bytes > bytesInFlightOfOne) {
      this.#parts.metrics.limited('in_flight');
      throw errors.memory_full({ retryAfterSeconds: 1 });
    }
  }

  #senderOf({ kind, id, session = '' }: Principal, now: number): Sender {
    const key = `${kind} ${id} ${session}`;
    const known = this.#senders.get(key);
    const { bytes, requests } = this.#parts.limits();
    const sender = known ?? {
      bytes: new TokenBucket(bytes.burst, now),
      requests: new TokenBucket(requests.burst, now),
      inFlight: 0,
    };
    this.#senders.delete(key);
    if (this.#senders.size >= maxSenders) {
      this.#senders.delete(this.#senders.keys().next().value!);
    }
    this.#senders.set(key, sender);
    return sender;
  }
}
