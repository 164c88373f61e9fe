import { queryError } from 'svc/query';

const mostSeries = 5_000;
/** Numbers that are held for an answer: 160 MB of them. */
const mostValues = 20_000_000;

/** What the series of an answer come to while they are counted: the first that is too much ends the query. */
export class SeriesBound {
  readonly #points: number;
  readonly #charge: (bytes: number) => void;
  #series = 0;
  #values = 0;

  constructor(points: number, charge: (bytes: number) => void) {
    this.#points = points;
    this.#charge = charge;
  }

  /** Series of the answer. */
  series(count: number): void {
    this.#series += count;
    if (this.#series > mostSeries) {
      throw queryError('too_large', `the query makes more than ${mostSeries} series: group by an attribute with fewer values, or filter for fewer of them`);
    }
  }

  /** Rows with a number for each point. */
  rows(count: number): void {
    const values = count * this.#points;
    this.#values += values;
    if (this.#values > mostValues) {
      throw queryError('too_large', `the query makes more than ${mostValues} numbers: ask for a longer step, a shorter window, or fewer series`);
    }
    this.#charge(values * 8);
  }
}
