/** Numbers of the head's dictionary by order of first use, as few as the group needs. */
export class Renumbering {
  readonly used: number[] = [];
  readonly #numbers: Int32Array;

  constructor(size: number) {
    this.#numbers = new Int32Array(size).fill(-1);
  }

  of(id: number): number {
    let number = this.#numbers[id]!;
    if (number < 0) {
      number = this.used.push(id) - 1;
      this.#numbers[id] = number;
    }
    return number;
  }
}
