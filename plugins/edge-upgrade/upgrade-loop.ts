import { type Clock, type Logger, messageOf, type Scope } from 'svc/sdk';

import type { Upgrade } from './upgrade.ts';

const beatMs = 500;
const repeatMs = 60_000;
const tidyMs = 10 * 60_000;
/** Time for which the end of a job is reported again. */
const rememberedMs = 15 * 60_000;

export interface UpgradeLoopParts {
  readonly upgrade: Upgrade;
  readonly online: () => boolean;
  /** Time for which a version on trial has to hold its tunnel. */
  readonly healthyMs: number;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Loop that continues the upgrade whenever there is something to do; a download may take minutes,
 * and nothing waits for it.
 */
export class UpgradeLoop {
  readonly #parts: UpgradeLoopParts;
  #due = true;
  #working = false;
  #upSince: number | undefined;
  #reportedAt = 0;

  constructor(parts: UpgradeLoopParts) {
    this.#parts = parts;
  }

  wake(): void {
    this.#due = true;
  }

  schedule(): void {
    const { upgrade, scope } = this.#parts;
    scope.interval('delete partial packages', tidyMs, () => upgrade.tidy());
    scope.interval('look after the upgrade', beatMs, () => this.#beat());
  }

  async #beat(): Promise<void> {
    const { upgrade, online, healthyMs, scope, clock } = this.#parts;
    const now = clock.monotonic();
    if (this.#due && !this.#working) {
      this.#due = false;
      this.#working = true;
      scope.task('upgrade', (signal) => this.#work(signal));
    }
    if (!online()) {
      this.#upSince = undefined;
      return;
    }
    if (this.#upSince === undefined || now - this.#reportedAt > repeatMs) {
      this.#reportedAt = now;
      await upgrade.repeat(rememberedMs);
    }
    this.#upSince ??= now;
    if (now - this.#upSince >= healthyMs && upgrade.onTrial) {
      await upgrade.pass();
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    try {
      await this.#parts.upgrade.advance(signal);
    } catch (error) {
      this.#parts.log.error(
        { event: 'edge-upgrade.not_written', cause: messageOf(error) },
        'failed to store the upgrade state; retrying at the next agent start',
      );
    } finally {
      this.#working = false;
    }
  }
}
