const restMs = 500;

/** Does a work that many ask for: at once the first time, then again once it is done and a moment has passed, however often it was asked for. */
export class Gently {
  readonly #work: () => Promise<void>;
  #isBusy = false;
  #isAsked = false;
  #isOver = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  readonly ask = (): void => {
    this.#isAsked = true;
    if (!this.#isBusy) {
      void this.#go();
    }
  };

  end(): void {
    this.#isOver = true;
  }

  async #go(): Promise<void> {
    this.#isBusy = true;
    while (this.#isAsked && !this.#isOver) {
      this.#isAsked = false;
      await this.#work();
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    this.#isBusy = false;
  }
}
