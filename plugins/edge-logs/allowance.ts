/** How much may be read now of what is allowed in a second; what was not used is there for a short while. */
export class Allowance {
  readonly #perSecond: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond * burstSeconds;
    this.#at = now;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  refill(now: number): void {
    this.#left = Math.min(this.#perSecond * burstSeconds, this.#left + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
  }

  take(amount: number): void {
    this.#left -= amount;
  }
}

const burstSeconds = 2;
