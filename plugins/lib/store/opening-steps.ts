/** How long a store took to open, step by step: fields of the line of the log that tells of it. */
export class OpeningSteps {
  readonly #began = performance.now();
  readonly #fields: Record<string, number> = {};
  #last = this.#began;

  /** To be called when a step has ended; the next one begins. */
  end(step: string): void {
    const now = performance.now();
    this.#fields[`${step}_ms`] = Math.round(now - this.#last);
    this.#last = now;
  }

  get fields(): Readonly<Record<string, number>> {
    return { open_ms: Math.round(this.#last - this.#began), ...this.#fields };
  }
}
