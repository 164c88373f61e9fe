export interface Read {
  /**
   * True if samples on their way into a block must be read from the head: the block did not exist
   * when this read began.
   */
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

  /** Marks moved samples as stored in a block; reads that begin later use it. */
  publish(): void {
    this.#published = true;
  }

  /** Marks moved samples as removed from the head. */
  released(): void {
    this.#published = false;
  }

  /** Resolves when every question that is under way now has ended. */
  async drained(): Promise<void> {
    await Promise.all(this.#active);
  }
}
