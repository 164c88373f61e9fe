/** Durations of the steps of opening a store: fields of the log line that reports them. */
export class OpeningSteps {
  readonly #began = performance.now();
  readonly #fields: Record<string, number> = {};
  #last = this.#began;

  /** Ends a step; the next one begins. */
  end(step: string): void {
    const now = performance.now();
    this.#fields[`${step}_ms`] = Math.round(now - this.#last);
    this.#last = now;
  }

  get fields(): Readonly<Record<string, number>> {
    return { open_ms: Math.round(this.#last - this.#began), ...this.#fields };
  }
}
