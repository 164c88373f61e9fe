import { setImmediate } from 'node:timers/promises';

/** Requests that wait have their turn. */
export const nextTurn = (): Promise<void> => setImmediate();

/** Max items before requests get their turn. */
const maxAtOnce = 200;

/** Does the same with each, in their order: a storm of them holds no request up. */
export const inTurns = <T>(all: Iterable<T>, work: (one: T) => void): Promise<void> =>
  stepwise(stepsOf(all, work));

function* stepsOf<T>(all: Iterable<T>, work: (one: T) => void): Generator<void, void> {
  for (const one of all) {
    yield;
    work(one);
  }
}

/** Runs long work in small steps, between which requests get their turn. */
export async function stepwise<R>(work: Generator<void, R>): Promise<R> {
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) {
      return value;
    }
    if (steps % maxAtOnce === 0) {
      await nextTurn();
    }
  }
}

/** The same in one go, where nobody else is held up by it. */
export function atOnce<R>(work: Generator<void, R>): R {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) {
      return value;
    }
  }
}
