/** Runs one piece of work after the other, so that what reads later also remembers later. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    // Its own caller receives the failure; the next one must have its turn all the same.
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
