/** Runs one piece of work after the other, so that what reads later also remembers later. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    // Its own caller hears of a failure; the next one must have its turn all the same.
    last = turn.catch(() => undefined);
    return turn;
  };
}
