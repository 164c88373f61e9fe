/** Bucket that admits `rate` a second, and up to `burst` at once; larger requests go into debt. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(burst: number, nowMs: number) {
    this.#tokens = burst;
    this.#at = nowMs;
  }

  /** Seconds until the next may begin; 0 when it may now. The limits are those of this moment. */
  wait(rate: number, burst: number, nowMs: number): number {
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#at) / 1_000) * rate);
    this.#at = nowMs;
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) / rate;
  }

  /** Spends one, where there is one. */
  take(rate: number, burst: number, nowMs: number): boolean {
    const isThere = this.wait(rate, burst, nowMs) === 0;
    this.#tokens -= isThere ? 1 : 0;
    return isThere;
  }

  spend(amount: number): void {
    this.#tokens -= amount;
  }
}
