import { metricName, type Matcher } from 'svc/query';

import { Cursor } from '../columns/scratch.ts';
import { layoutVersion, sliceMs, thinLayoutVersion } from './block-layout.ts';
import { errors } from './errors.ts';
import { readTexts } from './label-group.ts';

export interface Slice {
  readonly number: number;
  readonly timeSections: Int32Array;
  /** Pages that have samples in this slice, ascending, and the section of each. */
  readonly pages: Int32Array;
  readonly sections: Int32Array;
}

/** Neighbouring series, `[from, to)`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Directory of a block: which data lies where. */
export class BlockDirectory {
  /** True if its samples say how many each represents. */
  readonly counted: boolean;
  readonly series: number;
  readonly labelNames: readonly string[];
  readonly metrics: readonly string[];
  /** First series of each metric, and behind the last. */
  readonly #firsts: Uint32Array;
  readonly groups: Int32Array;
  readonly slices: readonly Slice[];

  constructor(section: Uint8Array) {
    const cursor = new Cursor(section);
    const version = cursor.u8();
    if (version !== layoutVersion && version !== thinLayoutVersion) {
      throw errors.block_layout({ version, max: thinLayoutVersion });
    }
    this.counted = version === thinLayoutVersion;
    this.series = cursor.uvarint();
    this.labelNames = readTexts(cursor);
    this.metrics = readTexts(cursor);
    this.#firsts = new Uint32Array(this.metrics.length + 1);
    this.metrics.forEach((_, i) => {
      this.#firsts[i + 1] = this.#firsts[i]! + cursor.uvarint();
    });
    this.groups = readSteps(cursor);
    this.slices = Array.from(readSteps(cursor), (number) => ({
      number,
      timeSections: readSteps(cursor),
      pages: readSteps(cursor),
      sections: readSteps(cursor),
    }));
  }

  /** Returns the ranges of metrics whose name the matchers accept. */
  ranges(matchers: readonly Matcher[]): Range[] {
    const onName = matchers.filter(({ name }) => name === metricName);
    const found: Range[] = [];
    this.metrics.forEach((metric, i) => {
      if (onName.every((matcher) => matcher.matches(metric))) {
        const last = found.at(-1);
        const [from, to] = [this.#firsts[i]!, this.#firsts[i + 1]!];
        if (last?.to === from) {
          found[found.length - 1] = { from: last.from, to };
        } else {
          found.push({ from, to });
        }
      }
    });
    return found;
  }

  /** Slices with samples in (mint, maxt]. */
  slicesWithin(mint: number, maxt: number): Slice[] {
    return this.slices.filter(
      ({ number }) => number * sliceMs <= maxt && (number + 1) * sliceMs > mint,
    );
  }
}

/** The section of a page within a slice, or -1. */
export function sectionOf(slice: Slice, page: number): number {
  let low = 0;
  let high = slice.pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (slice.pages[middle]! < page) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return slice.pages[low] === page ? slice.sections[low]! : -1;
}

function readSteps(cursor: Cursor): Int32Array {
  const numbers = new Int32Array(cursor.uvarint());
  let number = 0;
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = number += cursor.svarint();
  }
  return numbers;
}
