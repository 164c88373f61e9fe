import { type Clock, type Logger, messageOf } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';

export interface ClockCheckParts {
  readonly session: () => TunnelSession | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const answerMs = 15_000;
/** Max duration of an answer: with a longer one, the time there and back is too uncertain. */
const longestMs = 2_000;

/**
 * Check of this host's clock against the manager's, repeated while the tunnel is up, because either
 * may be changed.
 */
export class ClockCheck {
  readonly #parts: ClockCheckParts;

  constructor(parts: ClockCheckParts) {
    this.#parts = parts;
  }

  /**
   * Measures the difference. Uncertain results are not reported: the manager keeps the previous one
   * until the next check.
   */
  async look(): Promise<void> {
    const { session, log } = this.#parts;
    const tunnel = session();
    if (!tunnel) {
      return;
    }
    try {
      const skewMs = await this.#measure(tunnel);
      if (skewMs !== undefined) {
        await tell(tunnel, { skew_ms: skewMs });
      }
    } catch (error) {
      // Also for an earlier manager, which does not report its time: it uses what it saw when this
      // edge connected.
      log.debug(
        { event: 'uplink.clock_unknown', cause: messageOf(error) },
        "failed to compare the clock with the manager's clock",
      );
    }
  }

  async #measure(tunnel: TunnelSession): Promise<number | undefined> {
    const { clock } = this.#parts;
    const [asked, askedAt] = [clock.monotonic(), clock.now()];
    const { now: theirs } = await tell(tunnel, {});
    const tookMs = clock.monotonic() - asked;
    // Both clocks of this host agree, unless it was just set, or slept.
    const isSteady = Math.abs(clock.now() - askedAt - tookMs) < longestMs;
    return typeof theirs === 'number' && tookMs < longestMs && isSteady
      ? Math.round(askedAt + tookMs / 2 - theirs)
      : undefined;
  }
}

const tell = (
  tunnel: TunnelSession,
  payload: { readonly skew_ms?: number },
): Promise<{ readonly now?: unknown }> =>
  tunnel.call('tell', { event: 'clock', payload }, { timeoutMs: answerMs });
