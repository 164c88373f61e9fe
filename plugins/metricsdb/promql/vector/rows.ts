import { type NativeHistogram, weightOf } from 'svc/native-histogram';
import { eachOf, type Labels, labelsKey, labelValue, metricName, withoutLabels } from 'svc/query';

import { executionError } from '../parse/position.ts';
import type { Grid, Row, Run } from './run.ts';

const metadata: ReadonlySet<string> = new Set(['__name__', '__type__', '__unit__']);

const underscore = 0x5f;

/**
 * Removes the metadata labels. Names are sorted: if the one after the metric name starts with a
 * letter, there is nothing else to remove.
 */
export function withoutMetadata(labels: Labels): Labels {
  if (labels[0] !== metricName || labels.length === 2 || labels[2]!.charCodeAt(0) <= underscore) {
    return withoutLabels(labels, metadata);
  }
  // Not `slice`, which takes seven times as long from an array that is frozen.
  const left: string[] = [];
  for (let i = 2; i < labels.length; i++) {
    left.push(labels[i]!);
  }
  return Object.freeze(left);
}

/** The labels of a result whose name has lost its meaning. */
export const nameless = (run: Run, labels: Labels): Labels =>
  run.delayedNameRemoval ? labels : withoutMetadata(labels);

/** Position of a step in the values of a row; -1 when it has none there. */
export function indexAt(row: Row, step: number): number {
  const index = step - row.from;
  return index >= 0 &&
    index < row.values.length &&
    (row.present === undefined || row.present[index] === 1)
    ? index
    : -1;
}

/** Takes a row out of its builder, which is not empty. */
export type VisitBuilt = (builder: RowBuilder, labels: Labels, dropName: boolean) => void;

/** Rows up to this long are arrays of their own; longer ones are cut from slabs, since a buffer for each costs more than its content. */
const ownArray = 8;
const slabSize = 16_384;

/** Builder of rows, one after the other; keeps only the part of the grid that has values. */
export class RowBuilder {
  readonly #run: Run;
  readonly #values: Float64Array;
  readonly #present: Uint8Array;
  #slab = new Float64Array(0);
  #slabUsed = 0;
  #histograms: (NativeHistogram | undefined)[] | undefined;
  #first = -1;
  #last = -1;
  #count = 0;

  constructor(run: Run, grid: Grid) {
    run.budget.bytes(grid.count * 9);
    this.#run = run;
    this.#values = new Float64Array(grid.count);
    this.#present = new Uint8Array(grid.count);
  }

  put(step: number, value: number): void {
    this.#values[step] = value;
    if (this.#present[step] === 1) {
      return;
    }
    this.#present[step] = 1;
    this.#count++;
    if (this.#first === -1 || step < this.#first) {
      this.#first = step;
    }
    if (step > this.#last) {
      this.#last = step;
    }
  }

  putSample(step: number, sample: number | NativeHistogram): void {
    if (typeof sample === 'number') {
      this.put(step, sample);
      return;
    }
    this.put(step, NaN);
    this.#histograms ??= [];
    this.#histograms[step] = sample;
    this.#run.budget.bytes(weightOf(sample) * 16);
  }

  /** Copies a sample of a row, of either kind. */
  copy(step: number, { values, histograms }: Row, index: number): void {
    this.putSample(step, histograms?.[index] ?? values[index]!);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  has(step: number): boolean {
    return this.#present[step] === 1;
  }

  /**
   * Fills an empty builder from a caller that has all values at hand: `write` sets them and marks
   * which are present, without a call for each.
   */
  fill(write: (values: Float64Array, present: Uint8Array) => void): void {
    const present = this.#present;
    write(this.#values, present);
    for (let step = 0; step < present.length; step++) {
      if (present[step] === 1) {
        this.#count++;
        this.#last = step;
        if (this.#first === -1) {
          this.#first = step;
        }
      }
    }
  }

  /** The row, unless it is empty; the builder is empty afterwards. */
  take(labels: Labels, dropName: boolean): Row | undefined {
    if (this.#count === 0) {
      return undefined;
    }
    const from = this.#first;
    const end = this.#last + 1;
    const values = this.#copied(from, end);
    const present = this.#count === end - from ? undefined : this.#present.slice(from, end);
    const histograms = this.#histograms?.slice(from, end);
    charge(this.#run, values.length);
    this.#clear();
    return {
      labels,
      dropName,
      from,
      values,
      ...(present !== undefined && { present }),
      ...(histograms !== undefined && { histograms }),
    };
  }

  /** Lends the row, of numbers alone, until `use` returns; the builder is empty afterwards. */
  lend(use: (row: Pick<Row, 'from' | 'values' | 'present'>) => void): void {
    const from = this.#first;
    const end = this.#last + 1;
    this.#run.budget.spend(end - from);
    use({
      from,
      values: this.#values.subarray(from, end),
      ...(this.#count < end - from && { present: this.#present.subarray(from, end) }),
    });
    this.#clear();
  }

  #copied(from: number, end: number): Float64Array {
    const length = end - from;
    if (length <= ownArray) {
      return this.#values.slice(from, end);
    }
    if (this.#slabUsed + length > this.#slab.length) {
      this.#slab = new Float64Array(Math.max(length, Math.min(slabSize, this.#slab.length * 2)));
      this.#slabUsed = 0;
    }
    const values = this.#slab.subarray(this.#slabUsed, this.#slabUsed + length);
    this.#slabUsed += length;
    for (let i = 0; i < length; i++) {
      values[i] = this.#values[from + i]!;
    }
    return values;
  }

  #clear(): void {
    this.#present.fill(0, this.#first, this.#last + 1);
    this.#histograms = undefined;
    this.#first = this.#last = -1;
    this.#count = 0;
  }
}

export function charge(run: Run, points: number): void {
  run.budget.spend(points);
  run.budget.bytes(points * 9);
}

/** A row of numbers with others at the same steps. */
export function mapRow(
  run: Run,
  row: Row,
  labels: Labels,
  dropName: boolean,
  change: (value: number, step: number) => number,
): Row {
  charge(run, row.values.length);
  const values = new Float64Array(row.values.length);
  for (let i = 0; i < values.length; i++) {
    values[i] = change(row.values[i]!, row.from + i);
  }
  return {
    labels,
    dropName,
    from: row.from,
    values,
    ...(row.present !== undefined && { present: row.present }),
  };
}

export const duplicateLabels = 'vector cannot contain metrics with the same labelset';

/** Rows that come to have the same labels are one row, as long as they do not meet at a step. */
export async function mergeRows(
  run: Run,
  grid: Grid,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const groups = await grouped(run, rows);
  if (groups.size === rows.length) {
    return rows;
  }
  const builder = new RowBuilder(run, grid);
  const merged: Row[] = [];
  for (const group of groups.values()) {
    merged.push(group.length === 1 ? group[0]! : united(builder, group));
  }
  return merged;
}

function united(builder: RowBuilder, group: readonly Row[]): Row {
  for (const row of group) {
    for (let i = 0; i < row.values.length; i++) {
      if (row.present === undefined || row.present[i] === 1) {
        if (builder.has(row.from + i)) {
          throw executionError(duplicateLabels);
        }
        builder.copy(row.from + i, row, i);
      }
    }
  }
  return builder.take(group[0]!.labels, group[0]!.dropName)!;
}

/**
 * Merges rows like `mergeRows`, for the case that names may still be dropped: then only the answer
 * shows which rows are equal.
 */
export async function mergeSteps(
  run: Run,
  grid: Grid,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  return run.delayedNameRemoval && grid.count === 1 ? rows : await mergeRows(run, grid, rows);
}

export async function refuseDuplicates(
  run: Run,
  rows: readonly { readonly labels: Labels }[],
): Promise<void> {
  if ((await grouped(run, rows)).size < rows.length) {
    throw executionError(duplicateLabels);
  }
}

/** Series that were different stay so while each has lost the same name and nothing else: then nobody has to compare them. */
export class LostNames {
  #name: string | undefined;
  alike = true;

  add(before: Labels, after: Labels): void {
    const name = before.length - after.length === 2 ? labelValue(before, metricName) : '';
    this.#name ??= name;
    this.alike &&= name !== '' && name === this.#name;
  }
}

async function grouped<T extends { readonly labels: Labels }>(
  { budget }: Run,
  rows: readonly T[],
): Promise<Map<string, T[]>> {
  const groups = new Map<string, T[]>();
  await eachOf(rows, budget, (row) => {
    const key = labelsKey(row.labels);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [row]);
    } else {
      group.push(row);
    }
  });
  return groups;
}
