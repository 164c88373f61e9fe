export interface Read {
  /** Whether samples on their way into a block are to be read from the head: the block was not there yet when this began. */
  readonly withMoved: boolean;
  done(): void;
}

/** Questions under way, so that nothing they began with is taken from under them. */
export class Reads {
  readonly #active = new Set<Promise<void>>();
  #published = false;

  begin(): Read {
    let finish = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#active.add(ended);
    return {
      withMoved: !this.#published,
      done: () => {
        this.#active.delete(ended);
        finish();
      },
    };
  }

  /** What was moved is in a block from now on; questions that begin later read it there. */
  publish(): void {
    this.#published = true;
  }

  /** What was moved is gone from the head. */
  released(): void {
    this.#published = false;
  }

  /** Resolves when every question that is under way now has ended. */
  async drained(): Promise<void> {
    await Promise.all(this.#active);
  }
}
