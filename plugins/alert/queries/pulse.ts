/** Failures in a row from which on a store counts as silent. */
const maxFailures = 3;
const everyMs = 2_000;

/** Signs of life of a store, from the rounds of queries and from probes in between. */
export class Pulse {
  readonly #monotonic: () => number;
  #doubted = false;
  #rounds = 0;
  #probes = 0;
  #since = 0;
  #probedAt = -Infinity;
  #error: string | undefined;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Rounds or probes in a row in which nothing was answered because of the store itself. */
  get failures(): number {
    return Math.max(this.#rounds, this.#probes);
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** Returns whether it does not even answer probes: a round would only wait for its deadline. */
  get isSilent(): boolean {
    return this.#probes >= maxFailures;
  }

  /** Returns whether it has been failing for that long. */
  isDownFor(ms: number): boolean {
    return this.failures >= maxFailures && this.#monotonic() - this.#since >= ms;
  }

  /** Something took longer than usual, so a probe shall tell. */
  doubt(): void {
    this.#doubted = true;
  }

  /** A round was answered. */
  answered(): void {
    this.#doubted = false;
    this.#rounds = 0;
    this.#probes = 0;
    this.#error = undefined;
  }

  /** Nothing of a round was answered. */
  failed(error: string): void {
    this.#fail(error);
    this.#rounds += 1;
  }

  /** Probes if that is due. A store that answers a probe may still fail every round, so only silence is over then. */
  async probe(ask: () => Promise<string | undefined>): Promise<void> {
    const now = this.#monotonic();
    if ((!this.#doubted && this.failures === 0) || now - this.#probedAt < everyMs) {
      return;
    }
    this.#probedAt = now;
    const error = await ask();
    if (error !== undefined) {
      this.#fail(error);
      this.#probes += 1;
    } else if (this.isSilent) {
      this.answered();
    } else {
      this.#doubted = false;
      this.#probes = 0;
    }
  }

  #fail(error: string): void {
    if (this.failures === 0) {
      this.#since = this.#monotonic();
    }
    this.#error = error;
  }
}
