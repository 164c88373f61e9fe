import { queryError } from 'svc/query';

const maxSeries = 5_000;
/** Numbers that are held for an answer: 160 MB of them. */
const maxValues = 20_000_000;
/** Max size of one answer as text. */
const maxBytes = 64 * 1024 * 1024;
/** Size of a sample in it: its time, its value and what surrounds them. */
const sampleBytes = 40;

export function assertSent(bytes: number): void {
  if (bytes > maxBytes) {
    throw queryError(
      'too_large',
      `the answer is larger than ${maxBytes} bytes: ask for a longer step, a shorter window, or fewer series`,
    );
  }
}

/** Running size of an answer's series: exceeding the limit ends the query. */
export class SeriesBound {
  readonly #points: number;
  readonly #charge: (bytes: number) => void;
  readonly #full: boolean;
  #series = 0;
  #values = 0;

  /** `full` where each series is answered, with a number for each point. */
  constructor(
    points: number,
    charge: (bytes: number) => void,
    { full = false }: { readonly full?: boolean } = {},
  ) {
    this.#points = points;
    this.#charge = charge;
    this.#full = full;
  }

  /** Series of the answer. */
  series(count: number): void {
    this.#series += count;
    if (this.#series > maxSeries) {
      throw queryError(
        'too_large',
        `the query makes more than ${maxSeries} series: group by an attribute with fewer values, or filter for fewer of them`,
      );
    }
    if (this.#full) {
      assertSent(this.#series * this.#points * sampleBytes);
    }
  }

  /** Rows with a number for each point. */
  rows(count: number): void {
    const values = count * this.#points;
    this.#values += values;
    if (this.#values > maxValues) {
      throw queryError(
        'too_large',
        `the query makes more than ${maxValues} numbers: ask for a longer step, a shorter window, or fewer series`,
      );
    }
    this.#charge(values * 8);
  }
}
