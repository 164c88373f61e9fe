import type { Clock } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { limits } from '../protocol/limits.ts';

/** A shell must not become a way to guess passwords of a device. */
export class FailedLogins {
  readonly #clock: Clock;
  readonly #failures = new Map<number, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws rate_limited while there were too many. */
  check(deviceId: number): void {
    const found = this.#recent(deviceId);
    if (found.length === 0) {
      this.#failures.delete(deviceId);
    }
    if (found.length >= limits.failedLogins) {
      throw errors.too_many_failed_logins({ retryAfterSeconds: 60 });
    }
  }

  count(deviceId: number): void {
    this.#failures.set(deviceId, [...this.#recent(deviceId), this.#clock.monotonic()]);
  }

  #recent(deviceId: number): number[] {
    return (this.#failures.get(deviceId) ?? []).filter(
      (at) => at > this.#clock.monotonic() - limits.failedLoginsMs,
    );
  }
}
