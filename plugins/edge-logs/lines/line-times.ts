/** An instant in two numbers that a double holds exactly. */
export interface Instant {
  readonly ms: number;
  /** Nanoseconds beyond the millisecond. */
  readonly ns: number;
}

/** A clock that was further ahead than this was wrong, and its times are not continued. */
const sleepwalkMs = 3_600_000;

/** Gives each line a later time than the one before it, also over a restart and when the clock goes back a little. */
export class LineTimes {
  readonly #now: () => number;
  #last: Instant;

  constructor(now: () => number, last: Instant = { ms: 0, ns: 0 }) {
    this.#now = now;
    this.#last = last;
  }

  get last(): Instant {
    return this.#last;
  }

  /** The time of a line that is read now. */
  next(): Instant {
    return this.#after({ ms: this.#now(), ns: 0 });
  }

  /**
   * Returns the time of a line that carries its own, which is not trusted if it is in the future.
   */
  of(said: Instant): Instant {
    const now = this.#now();
    return this.#after(said.ms > now ? { ms: now, ns: 0 } : said);
  }

  #after(wanted: Instant): Instant {
    const { ms, ns } = this.#last;
    const isLater = wanted.ms > ms || (wanted.ms === ms && wanted.ns > ns);
    if (isLater || ms > this.#now() + sleepwalkMs) {
      this.#last = wanted;
    } else {
      this.#last = ns < 999_999 ? { ms, ns: ns + 1 } : { ms: ms + 1, ns: 0 };
    }
    return this.#last;
  }
}

/** Nanoseconds since 1970 in digits. */
export const nanosText = ({ ms, ns }: Instant): string => `${ms}${String(ns).padStart(6, '0')}`;
