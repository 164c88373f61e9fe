/** Characters that stages may go over between two breaths. */
const share = 64 * 1024;
/** Cost of a line besides its text. */
const perLine = 32;

/** Tells when a loop over lines should give others a turn: a few long lines may cost more than many short ones. */
export class Effort {
  readonly #stages: number;
  #left: number = share;

  constructor(stages: number) {
    this.#stages = stages;
  }

  /** Returns whether the effort is exhausted with this line. */
  spentWith(line: string): boolean {
    this.#left -= (line.length + perLine) * (this.#stages + 1);
    if (this.#left > 0) {
      return false;
    }
    this.#left = share;
    return true;
  }
}
