import type { Order } from 'svc/check';

import type { Places, Site } from './places.ts';
import type { Vote } from './verdict.ts';

/** Pause before a place repeats a failed probe. */
const pauseMs = 1_000;

export interface RoundParts {
  readonly places: Places;
  /** Resolves after so many milliseconds, or rejects with the end of the signal. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Asks all places at once; each repeats a failure before it counts. */
export async function runRound(
  { places, pause }: RoundParts,
  sites: readonly Site[],
  { order, retries }: { readonly order: Order; readonly retries: number },
  signal: AbortSignal,
): Promise<readonly Vote[]> {
  return await Promise.all(
    sites.map(async (site) => {
      for (let left = retries; ; left--) {
        const vote = await places.probe(site, order, signal);
        if (vote.reading?.success !== false || left <= 0) {
          return vote;
        }
        await pause(pauseMs, signal);
      }
    }),
  );
}
