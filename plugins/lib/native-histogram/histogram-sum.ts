import { CompensatedSum } from 'svc/query';

import {
  type NativeHistogram,
  populated,
  type ResetHint,
  sameNumbers,
  type Side,
} from './histogram.ts';
import { aligned } from './layout.ts';

type Sums = Map<number, CompensatedSum>;

/** A histogram that others are added to, each in the buckets that all of them share. */
export class HistogramSum {
  /** Bounds had to go that only some have. */
  reconciled = false;
  /** True if one histogram was reset where another was not. */
  collided = false;
  #first!: NativeHistogram;
  #hint: ResetHint;
  #count!: CompensatedSum;
  #sum!: CompensatedSum;
  #zeroCount!: CompensatedSum;
  #positive!: Sums;
  #negative!: Sums;

  constructor(first: NativeHistogram) {
    this.#hint = first.hint;
    this.#start(first);
  }

  #start(first: NativeHistogram): void {
    this.#first = first;
    [this.#count, this.#sum, this.#zeroCount] = [first.count, first.sum, first.zeroCount].map(
      sumFrom,
    ) as [CompensatedSum, CompensatedSum, CompensatedSum];
    [this.#positive, this.#negative] = [first.positive, first.negative].map(
      (side) => new Map(side.map(([index, count]) => [index, sumFrom(count)])),
    ) as [Sums, Sums];
  }

  /**
   * Adds a histogram and returns whether that was possible; exponential and custom buckets do not
   * mix.
   */
  add(other: NativeHistogram, sign: 1 | -1 = 1): boolean {
    let fitting = other;
    const { schema, zeroThreshold, bounds } = this.#first;
    if (
      schema !== other.schema ||
      zeroThreshold !== other.zeroThreshold ||
      !sameNumbers(bounds, other.bounds)
    ) {
      const both = aligned(this.value(), other);
      if (both === undefined) {
        return false;
      }
      this.reconciled ||= both.reconciled;
      this.#start(both.left);
      fitting = both.right;
    }
    this.#join(other.hint);
    this.#count.add(sign * fitting.count);
    this.#sum.add(sign * fitting.sum);
    this.#zeroCount.add(sign * fitting.zeroCount);
    addSide(this.#positive, fitting.positive, sign);
    addSide(this.#negative, fitting.negative, sign);
    return true;
  }

  #join(hint: ResetHint): void {
    const own = this.#hint;
    if (own === hint || own === 'gauge') {
      return;
    }
    this.collided ||= own !== 'unknown' && hint !== 'unknown' && hint !== 'gauge';
    this.#hint = hint === 'gauge' ? 'gauge' : 'unknown';
  }

  /** Returns the sum, or the mean of so many. */
  value(among = 1): NativeHistogram {
    const share = ({ total, lost }: CompensatedSum): number =>
      Number.isFinite(total) ? total / among + lost / among : total / among;
    const side = (sums: Sums): Side =>
      populated(
        [...sums].sort(([a], [b]) => a - b).map(([index, sum]) => [index, share(sum)] as const),
      );
    return {
      ...this.#first,
      count: share(this.#count),
      sum: share(this.#sum),
      zeroCount: share(this.#zeroCount),
      positive: side(this.#positive),
      negative: side(this.#negative),
      hint: this.#hint,
    };
  }
}

function sumFrom(value: number): CompensatedSum {
  const sum = new CompensatedSum();
  sum.reset(value);
  return sum;
}

function addSide(sums: Sums, side: Side, sign: number): void {
  for (const [index, count] of side) {
    const known = sums.get(index);
    if (known === undefined) {
      sums.set(index, sumFrom(sign * count));
    } else {
      known.add(sign * count);
    }
  }
}
