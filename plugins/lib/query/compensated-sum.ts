/** A sum that carries along what rounding took away (Neumaier's form). */
export class CompensatedSum {
  total = 0;
  lost = 0;

  reset(total = 0, lost = 0): void {
    this.total = total;
    this.lost = lost;
  }

  add(value: number): void {
    const before = this.total;
    const total = before + value;
    if (total === Infinity || total === -Infinity) {
      this.lost = 0;
    } else if (Math.abs(before) >= Math.abs(value)) {
      this.lost += before - total + value;
    } else {
      this.lost += value - total + before;
    }
    this.total = total;
  }

  get value(): number {
    return this.total === Infinity || this.total === -Infinity ? this.total : this.total + this.lost;
  }
}
