/** Places of a quotient; digits beyond them are rounded. */
const quotientPlaces = 16;
/** No float has a larger exponent. */
const maxPlaces = 400;

/** Number by its decimal digits: 0.1 + 0.2 is 0.3. A non-finite one stays a float. */
export class Decimal {
  readonly #digits: bigint;
  /** Number of decimal places. */
  readonly #places: number;
  readonly #float: number | undefined;

  private constructor(digits: bigint, places: number, float?: number) {
    this.#digits = digits;
    this.#places = places;
    this.#float = float;
  }

  static of(value: number): Decimal {
    const parts = Number.isFinite(value)
      ? /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))
      : null;
    if (parts === null) {
      return new Decimal(0n, 0, value);
    }
    const [, sign, whole, fraction = '', exponent = '0'] = parts;
    const digits = BigInt(`${sign!}${whole!}${fraction}`);
    const places = fraction.length - Number(exponent);
    return places < 0
      ? new Decimal(digits * 10n ** BigInt(-places), 0)
      : new Decimal(digits, places);
  }

  plus(other: Decimal): Decimal {
    return (
      this.#either(other, (a, b) => a + b) ??
      new Decimal(this.#scaled(other) + other.#scaled(this), Math.max(this.#places, other.#places))
    );
  }

  minus(other: Decimal): Decimal {
    return (
      this.#either(other, (a, b) => a - b) ??
      new Decimal(this.#scaled(other) - other.#scaled(this), Math.max(this.#places, other.#places))
    );
  }

  times(other: Decimal): Decimal {
    return (
      this.#either(other, (a, b) => a * b) ??
      new Decimal(this.#digits * other.#digits, this.#places + other.#places)
    );
  }

  dividedBy(other: Decimal): Decimal {
    const float = this.#either(other, (a, b) => a / b);
    if (float !== undefined || other.#digits === 0n) {
      return float ?? Decimal.of(this.toNumber() / 0);
    }
    const dividend = this.#scaled(other) * 10n ** BigInt(quotientPlaces);
    const divisor = other.#scaled(this);
    const [quotient, rest] = [dividend / divisor, dividend % divisor];
    const up = 2n * magnitude(rest) >= magnitude(divisor);
    return new Decimal(
      quotient + (up ? (dividend < 0n === divisor < 0n ? 1n : -1n) : 0n),
      quotientPlaces,
    );
  }

  toNumber(): number {
    return this.#float ?? Number(`${this.#digits}e-${this.#places}`);
  }

  /** Digits with as many places as the one of both that has more. */
  #scaled(other: Decimal): bigint {
    const others = other.#places;
    return others > this.#places
      ? this.#digits * 10n ** BigInt(others - this.#places)
      : this.#digits;
  }

  /** Computes with floats where an operand is not finite or the digits would never end. */
  #either(other: Decimal, work: (a: number, b: number) => number): Decimal | undefined {
    const large = this.#places + other.#places > maxPlaces;
    return this.#float === undefined && other.#float === undefined && !large
      ? undefined
      : Decimal.of(work(this.toNumber(), other.toNumber()));
  }
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
