import { type Budget, type Labels } from 'svc/query';
import { type BlockRow } from 'svc/store';

import { rawLevel } from '../blocks/block-layout.ts';
import { type BlockReader, type Lost } from '../blocks/block-reader.ts';
import { type Blocks } from '../blocks/blocks.ts';
import { wholeOf } from '../blocks/block-meta.ts';
import { type Samples } from '../columns/samples.ts';

/** The blocks that one question reads: thin ones where they tell enough, and the whole one in the place of a thin one that is damaged. */
export class ChosenBlocks {
  readonly rows: BlockRow[];
  readonly #blocks: Blocks;
  readonly #cost: Budget;
  readonly #held: { done(): void }[];

  /** Keeps the blocks readable until `done`. */
  constructor(blocks: Blocks, rows: readonly BlockRow[], cost: Budget) {
    this.#blocks = blocks;
    this.#cost = cost;
    this.rows = [...rows];
    this.#held = [blocks.hold(rows)];
  }

  /** Returns the result of `work` on the block at this position. */
  at<R>(place: number, work: (reader: BlockReader, lost: Lost) => R): R | undefined {
    const row = this.rows[place]!;
    if (row.level !== rawLevel) {
      const found = this.#blocks.whole(row, work);
      if (found !== undefined) {
        return found;
      }
      this.rows[place] = this.#wholeOf(row);
    }
    return this.#blocks.from(this.rows[place]!, this.#cost, work);
  }

  /** Appends the samples of a series in (mint, maxt] from the block at this place. */
  read(
    place: number,
    series: number,
    labels: Labels,
    [mint, maxt]: readonly [number, number],
    into: Samples,
  ): void {
    const row = this.rows[place]!;
    const begin = into.length;
    if (row.level !== rawLevel) {
      if (
        this.#blocks.whole(
          row,
          (reader, lost) => (reader.read(series, mint, maxt, into, lost), true),
        ) === true
      ) {
        return;
      }
      into.truncate(begin);
      // Series have other numbers there.
      this.#blocks.from(this.#wholeOf(row), this.#cost, (reader, lost) => {
        const number = reader.find(labels, lost);
        return number === -1 ? undefined : reader.read(number, mint, maxt, into, lost);
      });
    } else {
      this.#blocks.from(row, this.#cost, (reader, lost) =>
        reader.read(series, mint, maxt, into, lost),
      );
    }
    into.countEach(begin);
  }

  done(): void {
    this.#held.forEach((held) => held.done());
  }

  #wholeOf(thin: BlockRow): BlockRow {
    const whole = wholeOf(this.#blocks.list(), thin);
    if (whole === undefined) {
      return thin;
    }
    this.#held.push(this.#blocks.hold([whole]));
    return whole;
  }
}
