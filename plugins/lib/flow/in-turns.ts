import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many before requests have their turn. */
const mostAtOnce = 200;

/** Does the same with each, in their order: a storm of them holds no request up. */
export async function inTurns<T>(all: readonly T[], work: (one: T) => void): Promise<void> {
  for (const [at, one] of all.entries()) {
    if (at > 0 && at % mostAtOnce === 0) {
      await nextTurn();
    }
    work(one);
  }
}
