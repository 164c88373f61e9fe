import { SvcError } from 'svc/sdk';

/** Lets a piece of work in when there is room. */
export type Turnstile = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * At most `inside` at once and `waiting` before the door; one more is told to come back. Work that passes must end
 * by itself, then so does every wait.
 */
export function createTurnstile({ inside, waiting, refusal }: { inside: number; waiting: number; refusal: string }): Turnstile {
  const queue: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy < inside) {
      busy += 1;
    } else if (queue.length < waiting) {
      // Whoever leaves hands its place over, so nobody slips in between.
      await new Promise<void>((enter) => queue.push(enter));
    } else {
      throw new SvcError('rate_limited', refusal, { retryAfterSeconds: 3 });
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) {
        next();
      } else {
        busy -= 1;
      }
    }
  };
}
