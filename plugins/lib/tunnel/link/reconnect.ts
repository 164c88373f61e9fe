import { isRefusal } from '../handshake/hello.ts';
import { closeCode } from '../message/limits.ts';

/** End of the last attempt or session. */
export interface ReconnectEnd {
  /** Uptime of the session; 0 if it never was up. */
  readonly upMs: number;
  readonly code?: number;
  /** Retry times requested by the manager. */
  readonly retry?: { readonly minMs: number; readonly maxMs: number } | undefined;
  /**
   * Span over which the fleet should reconnect, as stated by the manager when it admitted this
   * edge.
   */
  readonly spreadMs?: unknown;
  /** Error thrown by `connect`, if any. */
  readonly error?: unknown;
  /** State of the address that is tried next, if the manager has several. */
  readonly others?: 'untried' | 'tried' | undefined;
}

export interface ReconnectPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * Uptime after which a link starts again from `firstMs`; a shorter one may be part of the
   * trouble.
   */
  readonly stableMs: number;
  /** Delay after a refusal that will not resolve without action. */
  readonly refusedMs: number;
  readonly maxRefusedMs: number;
  /** Max delay that a manager can request. */
  readonly maxRetryMs: number;
}

/** Uptime after which a link starts again from the shortest delay. */
export const stableMs = 60_000;
/** Max delay where the manager has several addresses: one of them is to answer within seconds. */
const severalMaxMs = 4_000;

const usual: ReconnectPolicy = {
  firstMs: 1_000,
  maxMs: 60_000,
  stableMs,
  refusedMs: 300_000,
  maxRefusedMs: 3_600_000,
  maxRetryMs: 3_600_000,
};

/**
 * Returns the function that computes the delay before the next attempt in milliseconds, random each
 * time so that edges that were lost together do not return together.
 */
export function reconnects(
  random: () => number,
  given: Partial<ReconnectPolicy> = {},
): (end: ReconnectEnd) => number {
  const policy = { ...usual, ...given };
  let lost = 0;
  let refused = 0;
  let spread = 0;
  return ({ upMs, code, retry, error, spreadMs: told, others }) => {
    if (typeof told === 'number' && told >= 0) {
      spread = Math.min(told, policy.maxMs);
    }
    if (upMs >= policy.stableMs) {
      lost = 0;
      refused = 0;
    }
    const asked = retry ?? (isRefusal(error) ? error.retry : undefined);
    if (asked) {
      const min = Math.min(asked.minMs, policy.maxRetryMs);
      return min + random() * Math.max(0, Math.min(asked.maxMs, policy.maxRetryMs) - min);
    }
    if (others === 'untried') {
      return random() * Math.max(policy.firstMs, spread);
    }
    if (isRefusal(error) && error.lasting) {
      const full = Math.min(policy.maxRefusedMs, policy.refusedMs * 2 ** refused);
      refused += 1;
      return Math.max(policy.refusedMs, full * (0.5 + random() / 2));
    }
    // A link that went silent is most often the only one, and tries again soon. An end without a word, or an attempt that fails, has met all of them.
    const alone = lost === 0 && code !== closeCode.lost;
    const full = Math.max(
      alone ? 0 : spread,
      Math.min(others ? severalMaxMs : policy.maxMs, policy.firstMs * 2 ** Math.min(lost, 30)),
    );
    lost += 1;
    return random() * full;
  };
}

/**
 * Edges that a manager admits per second alongside everything else; more would delay people, whose
 * connections share the queue.
 */
const greetedPerSecond = 250;

/** Returns the span over which this many edges reconnect. */
export const spreadMs = (edges: number): number => Math.ceil((edges / greetedPerSecond) * 1_000);

/** The same for those that are sent away. */
export const retryWindow = (
  edges: number,
): { readonly retryMinMs: number; readonly retryMaxMs: number } => ({
  retryMinMs: 500,
  retryMaxMs: 1_500 + spreadMs(edges),
});
