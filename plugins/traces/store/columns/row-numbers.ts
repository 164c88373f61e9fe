import { hexOf } from './stored-span.ts';

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

/** Number of rows up to which a scan is faster than building a map. */
const fewRows = 24;

/**
 * Position, among these rows, of the span whose id is in a row of some ids; negative if there is
 * none.
 */
export type PlaceOf = (ids: Uint8Array, row: number) => number;

export const placesOf = (spanIds: Uint8Array, rows: readonly number[]): PlaceOf =>
  rows.length <= fewRows ? placeByLooking(spanIds, rows) : placeByKey(spanIds, rows);

const placeByLooking =
  (spanIds: Uint8Array, rows: readonly number[]): PlaceOf =>
  (ids, row) =>
    rows.findIndex((other) => sameId(spanIds, other, ids, row));

function placeByKey(spanIds: Uint8Array, rows: readonly number[]): PlaceOf {
  const places = new Map(rows.map((row, place) => [hexOf(spanIds, row * 8, 8), place] as const));
  return (ids, row) => places.get(hexOf(ids, row * 8, 8)) ?? -1;
}

function sameId(a: Uint8Array, rowOfA: number, b: Uint8Array, rowOfB: number): boolean {
  for (let i = 0; i < 8; i++) {
    if (a[rowOfA * 8 + i] !== b[rowOfB * 8 + i]) {
      return false;
    }
  }
  return true;
}
