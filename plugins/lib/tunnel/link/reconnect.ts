import { isRefusal } from '../handshake/hello.ts';
import { closeCode } from '../message/limits.ts';

/** How the last attempt or session ended. */
export interface ReconnectEnd {
  /** How long the session was up; 0 when it never was. */
  readonly upMs: number;
  readonly code?: number;
  /** What the manager said about coming back. */
  readonly retry?: { readonly minMs: number; readonly maxMs: number } | undefined;
  /** What the manager said of its fleet when it let this edge in: over how long all of it should come back. */
  readonly spreadMs?: unknown;
  /** What `connect` threw, if it did. */
  readonly error?: unknown;
}

export interface ReconnectPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A link that was up so long starts again from `firstMs`; a shorter one may be part of the trouble. */
  readonly stableMs: number;
  /** After a refusal that will not pass by itself. */
  readonly refusedMs: number;
  readonly maxRefusedMs: number;
  /** Nobody can tell an edge to stay away for longer. */
  readonly maxRetryMs: number;
}

const usual: ReconnectPolicy = {
  firstMs: 1_000,
  maxMs: 60_000,
  stableMs: 60_000,
  refusedMs: 300_000,
  maxRefusedMs: 3_600_000,
  maxRetryMs: 3_600_000,
};

/** Milliseconds to wait before the next attempt, drawn anew each time so that edges that fell together do not rise together. */
export function reconnects(
  random: () => number,
  given: Partial<ReconnectPolicy> = {},
): (end: ReconnectEnd) => number {
  const policy = { ...usual, ...given };
  let lost = 0;
  let refused = 0;
  let spread = 0;
  return ({ upMs, code, retry, error, spreadMs: told }) => {
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
    if (isRefusal(error) && error.lasting) {
      const full = Math.min(policy.maxRefusedMs, policy.refusedMs * 2 ** refused);
      refused += 1;
      return Math.max(policy.refusedMs, full * (0.5 + random() / 2));
    }
    // A link that went silent is most often the only one, and tries again soon. An end without a word, or an attempt that fails, has met all of them.
    const alone = lost === 0 && code !== closeCode.lost;
    const full = Math.max(
      alone ? 0 : spread,
      Math.min(policy.maxMs, policy.firstMs * 2 ** Math.min(lost, 30)),
    );
    lost += 1;
    return random() * full;
  };
}

/** How many edges a manager greets in a second beside everything else; more would keep people waiting, whose connections stand in the same line. */
const greetedPerSecond = 250;

/** Over how long so many edges come back. */
export const spreadMs = (edges: number): number => Math.ceil((edges / greetedPerSecond) * 1_000);

/** The same for those that are sent away. */
export const retryWindow = (
  edges: number,
): { readonly retryMinMs: number; readonly retryMaxMs: number } => ({
  retryMinMs: 500,
  retryMaxMs: 1_500 + spreadMs(edges),
});
