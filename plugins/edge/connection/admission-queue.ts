import type { SvcError } from 'svc/sdk';
import { type Clock } from 'svc/sdk';

import { errors } from './errors.ts';

/** Max edges per turn of the event loop: their total cost is the delay of any other request. */
const perTurn = 50;
const turnMs = 50;
const maxWaiting = 4_096;
/** Shorter than edges wait for the answer to their dial. */
const longestMs = 10_000;

interface AdmissionParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: () => number;
  /**
   * Calls `admit` once, after so long. A busy process gets to it later, and so has fewer of them.
   */
  readonly nextTurn: (ms: number, admit: () => void) => void;
}

interface Waiting {
  readonly since: number;
  readonly admit: () => void;
  readonly refuse: (error: SvcError) => void;
}

/**
 * Queue of edges before authentication: a fleet that reconnects at once must leave this process
 * time for everything else.
 */
export class AdmissionQueue {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: () => number;
  readonly #nextTurn: (ms: number, admit: () => void) => void;
  readonly #queue: Waiting[] = [];
  #free = perTurn;
  #turns = false;

  constructor({ clock, random, nextTurn }: AdmissionParts) {
    this.#clock = clock;
    this.#random = random;
    this.#nextTurn = nextTurn;
  }

  get length(): number {
    return this.#queue.length;
  }

  /**
   * Joins the queue. Undefined if it may proceed immediately; throws or rejects with unavailable if
   * the queue is full, or the wait would not end.
   */
  enter(): Promise<void> | undefined {
    this.#takeTurns();
    if (this.#queue.length === 0 && this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    if (this.#queue.length >= maxWaiting) {
      throw tooMany(this.#random);
    }
    return new Promise(
      (admit, refuse) => void this.#queue.push({ since: this.#clock.monotonic(), admit, refuse }),
    );
  }

  /** Takes turns only while edges arrive: without edges nothing wakes the process. */
  #takeTurns(): void {
    if (!this.#turns) {
      this.#turns = true;
      this.#nextTurn(turnMs, () => this.#admitNext());
    }
  }

  #admitNext(): void {
    this.#turns = false;
    const now = this.#clock.monotonic();
    const next = this.#queue.splice(0, perTurn);
    this.#free = perTurn - next.length;
    for (const { since, admit, refuse } of next) {
      if (now - since > longestMs) {
        refuse(tooMany(this.#random));
      } else {
        admit();
      }
    }
    if (next.length > 0) {
      this.#takeTurns();
    }
  }
}

interface Refusal {
  readonly afterSeconds?: number;
  readonly maxSeconds?: number;
  /** True if it applies to every edge, rather than to one address. */
  readonly isFull?: boolean;
}

/**
 * Returns an error with a random retry time, so that edges refused together do not come back
 * together.
 */
export function tooMany(
  random: () => number,
  { afterSeconds = 0, maxSeconds = Infinity, isFull = true }: Refusal = {},
): SvcError {
  const retryAfterSeconds = Math.min(
    maxSeconds,
    Math.ceil(afterSeconds) + Math.floor(random() * 5) + 1,
  );
  return errors.too_many_connecting(
    { retryAfterSeconds },
    { retryAfterSeconds, ...(isFull && { reason: 'http.door_full' }) },
  );
}
