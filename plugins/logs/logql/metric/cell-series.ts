import type { Labels } from 'svc/query';

import type { Fold } from './fold.ts';
import { emptyRow, put, type Row } from './matrix.ts';
import type { Windows } from './windows.ts';

/** The samples of one label set: given one by one in any order, asked for by window. */
export interface SampleSeries {
  readonly labels: Labels;
  /** Answers how much more it holds now. */
  add(cell: number, value: number, ms: number, ns: number): number;
  row(windows: Windows): Row;
}

/** Keeps a few numbers per cell. */
export class CellSeries implements SampleSeries {
  readonly labels: Labels;
  readonly #fold: Fold;
  readonly #places = new Map<number, number>();
  #cells: Float64Array;
  #lastCell = -1;
  #lastPlace = 0;

  constructor(labels: Labels, fold: Fold) {
    this.labels = labels;
    this.#fold = fold;
    this.#cells = new Float64Array(4 * fold.width);
  }

  add(cell: number, value: number, ms: number, ns: number): number {
    const fold = this.#fold;
    const known = cell === this.#lastCell ? this.#lastPlace : this.#places.get(cell);
    this.#lastCell = cell;
    if (known !== undefined) {
      this.#lastPlace = known;
      fold.add(this.#cells, known, value, ms, ns);
      return 0;
    }
    const place = this.#places.size * fold.width;
    this.#lastPlace = place;
    this.#places.set(cell, place);
    if (place + fold.width > this.#cells.length) {
      const grown = new Float64Array(this.#cells.length * 2);
      grown.set(this.#cells);
      this.#cells = grown;
    }
    fold.begin(this.#cells, place, value, ms, ns);
    return 1;
  }

  row(windows: Windows): Row {
    return slide(this.labels, this.#fold, this.#cells, this.#places, windows);
  }
}

/**
 * Sums up each window from its cells. Windows only move forward, so every cell is joined twice at most: the older ones
 * from behind, once, into `front`, and the newer ones as they come into `back`.
 */
function slide(
  labels: Labels,
  fold: Fold,
  cells: Float64Array,
  places: ReadonlyMap<number, number>,
  windows: Windows,
): Row {
  const { width } = fold;
  const ids = Int32Array.from(places.keys()).sort();
  const row = emptyRow(labels, windows.count);
  const front = new Float64Array(ids.length * width);
  const back = new Float64Array(width);
  const state = new Float64Array(width);
  let low = 0;
  let high = 0;
  let turned = 0;
  let backFilled = false;
  for (let step = 0; step < windows.count; step++) {
    for (; high < ids.length && ids[high]! < windows.behind[step]!; high++) {
      const place = places.get(ids[high]!)!;
      if (backFilled) {
        fold.join(back, 0, cells, place);
      } else {
        copy(back, 0, cells, place, width);
        backFilled = true;
      }
    }
    while (low < high && ids[low]! < windows.first[step]!) {
      low += 1;
    }
    if (low >= turned && low < high) {
      for (let i = high - 1; i >= low; i--) {
        copy(front, i * width, cells, places.get(ids[i]!)!, width);
        if (i < high - 1) {
          fold.join(front, i * width, front, (i + 1) * width);
        }
      }
      turned = high;
      backFilled = false;
    }
    if (low < high) {
      copy(state, 0, front, low * width, width);
      if (backFilled) {
        fold.join(state, 0, back, 0);
      }
      put(row, step, fold.result(state, 0, windows.rangeSeconds));
    } else {
      turned = high;
      backFilled = false;
    }
  }
  return row;
}

function copy(
  to: Float64Array,
  at: number,
  from: Float64Array,
  place: number,
  width: number,
): void {
  for (let i = 0; i < width; i++) {
    to[at + i] = from[place + i]!;
  }
}
