import { type Labels, labelsKey } from 'svc/query';

import { NativeNotes } from '../histogram/notes.ts';
import { type Operand, operateNatively, putOutcome } from '../histogram/operation.ts';
import type { Binary } from '../parse/ast.ts';
import { quoted } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { isTrim } from '../parse/token.ts';
import { arithmetic, comparisons } from '../vector/arithmetic.ts';
import { matchRows, resultLabels, shownLabels, signature } from '../vector/matching.ts';
import { indexAt, mergeSteps, RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Row, type Run } from '../vector/run.ts';

/** The sides as the matching sees them: every row of `many` finds at most one of `one` at a step. */
interface Sides {
  readonly many: readonly Row[];
  readonly one: readonly Row[];
}

/** Arithmetic and comparisons between instant vectors. */
export async function combineVectors(
  run: Run,
  grid: Grid,
  expr: Binary,
  left: readonly Row[],
  right: readonly Row[],
): Promise<readonly Row[]> {
  const swapped = expr.matching.card === 'one-to-many';
  const pair = new Pairing(run, grid, expr);
  const groups = await matchRows(run, expr.matching, left, right);
  const filling = expr.matching.fillLeft !== undefined || expr.matching.fillRight !== undefined;
  // If a side is empty, nothing is matched, and nothing can match twice.
  const both =
    filling || groups.every(({ left: l, right: r }) => l.length < 2 && r.length < 2)
      ? undefined
      : bothSides(run, grid, left, right);
  const result: Row[] = [];
  for (const group of groups) {
    const sides = swapped
      ? { many: group.right, one: group.left }
      : { many: group.left, one: group.right };
    refuseManyToMany(grid, expr, sides, both);
    await pair.rows(sides, result);
  }
  return mergeSteps(run, grid, result);
}

function bothSides(run: Run, grid: Grid, left: readonly Row[], right: readonly Row[]): Uint8Array {
  run.budget.bytes(grid.count * 2);
  const marks = new Uint8Array(grid.count);
  for (const [rows, mark] of [
    [left, 1],
    [right, 2],
  ] as const) {
    for (const row of rows) {
      for (let i = 0; i < row.values.length; i++) {
        if (row.present === undefined || row.present[i] === 1) {
          marks[row.from + i]! |= mark;
        }
      }
    }
  }
  return marks.map((mark) => (mark === 3 ? 1 : 0));
}

/** Two rows of the "one" side that match the same must not meet at a step. */
function refuseManyToMany(
  grid: Grid,
  { matching }: Binary,
  { one }: Sides,
  both: Uint8Array | undefined,
): void {
  if (one.length < 2) {
    return;
  }
  const seen = new Int32Array(grid.count).fill(-1);
  one.forEach((row, index) => {
    for (let step = row.from; step < row.from + row.values.length; step++) {
      if (indexAt(row, step) === -1 || (both !== undefined && both[step] !== 1)) {
        continue;
      }
      if (seen[step] !== -1) {
        const [first, second] = [one[seen[step]!]!, row]
          .map(({ labels }) => shownSeries(labels))
          .sort() as [string, string];
        const side = matching.card === 'one-to-many' ? 'left' : 'right';
        const group = shownLabels(signature(matching)(row.labels), quoted);
        throw executionError(
          `found duplicate series for the match group ${group} on the ${side} hand-side of the operation: [${first}, ${second}];many-to-many matching not allowed: matching labels must be unique on one side`,
        );
      }
      seen[step] = index;
    }
  });
}

const shownSeries = (labels: Labels): string => shownLabels(labels, quoted);

const sampleOf = ({ values, histograms }: Row, index: number): Operand =>
  histograms?.[index] ?? values[index]!;

const unclaimed = (): void => undefined;

/** Iterator over the pairs of matching groups. */
class Pairing {
  readonly #run: Run;
  readonly #grid: Grid;
  readonly #expr: Binary;
  readonly #builder: RowBuilder;
  readonly #swapped: boolean;
  readonly #compute: ((left: number, right: number) => number) | undefined;
  readonly #compare: ((left: number, right: number) => boolean) | undefined;

  readonly #trims: boolean;
  readonly #fills: boolean;
  readonly #notes: NativeNotes;

  constructor(run: Run, grid: Grid, expr: Binary) {
    this.#run = run;
    this.#grid = grid;
    this.#expr = expr;
    this.#builder = new RowBuilder(run, grid);
    this.#swapped = expr.matching.card === 'one-to-many';
    this.#compute = arithmetic[expr.op];
    this.#compare = comparisons[expr.op];
    this.#trims = isTrim(expr.op);
    this.#fills = expr.matching.fillLeft !== undefined || expr.matching.fillRight !== undefined;
    this.#notes = new NativeNotes(run.notes, expr.start);
  }

  async rows({ many, one }: Sides, result: Row[]): Promise<void> {
    const { matching } = this.#expr;
    const paced = pace(this.#run);
    const taken = new Map<string, Uint8Array>();
    for (const row of many) {
      for (const other of one) {
        // A pair by itself cannot meet another at a step.
        const alone = many.length === 1 && one.length === 1 && !this.#fills;
        result.push(...this.#pair(row, other, alone ? undefined : taken));
        const pause = paced(row.values.length);
        if (pause !== undefined) {
          await pause;
        }
      }
      // With group_right, too: there the sides are swapped, but not their fill values.
      if (matching.fillRight !== undefined) {
        result.push(...this.#filled(row, one, matching.fillRight, true, taken));
        await paced(row.values.length * one.length);
      }
    }
    if (matching.fillLeft !== undefined) {
      for (const other of one) {
        result.push(...this.#filled(other, many, matching.fillLeft, false, taken));
        await paced(other.values.length * many.length);
      }
    }
  }

  #pair(row: Row, other: Row, taken: Map<string, Uint8Array> | undefined): Row[] {
    const from = Math.max(row.from, other.from);
    const to = Math.min(row.from + row.values.length, other.from + other.values.length);
    const labels = this.#labels(row.labels, other.labels);
    const claim = taken === undefined ? unclaimed : this.#claims(labels, taken);
    if (
      this.#compute !== undefined &&
      !this.#trims &&
      row.histograms === undefined &&
      other.histograms === undefined
    ) {
      this.#computeNumbers(row, other, { from, to }, this.#compute, claim);
      return this.#take(labels, row.dropName);
    }
    for (let step = from; step < to; step++) {
      const index = indexAt(row, step);
      const otherIndex = indexAt(other, step);
      if (index !== -1 && otherIndex !== -1) {
        this.#put(step, sampleOf(row, index), sampleOf(other, otherIndex), claim);
      }
    }
    return this.#take(labels, row.dropName);
  }

  /** Computes rows of numbers, which most are. */
  #computeNumbers(
    { from: manyFrom, values: many, present: manyPresent }: Row,
    { from: oneFrom, values: one, present: onePresent }: Row,
    { from, to }: { readonly from: number; readonly to: number },
    compute: (left: number, right: number) => number,
    claim: (step: number) => void,
  ): void {
    const swapped = this.#swapped;
    this.#builder.fill((values, present) => {
      for (let step = from; step < to; step++) {
        const index = step - manyFrom;
        const otherIndex = step - oneFrom;
        if (
          (manyPresent === undefined || manyPresent[index] === 1) &&
          (onePresent === undefined || onePresent[otherIndex] === 1)
        ) {
          claim(step);
          const value = many[index]!;
          const other = one[otherIndex]!;
          values[step] = swapped ? compute(other, value) : compute(value, other);
          present[step] = 1;
        }
      }
    });
  }

  /** A row where the other side has nothing that matches. */
  #filled(
    row: Row,
    others: readonly Row[],
    fill: number,
    rowIsMany: boolean,
    taken: Map<string, Uint8Array>,
  ): Row[] {
    const stand = signature(this.#expr.matching)(row.labels);
    const labels = rowIsMany ? this.#labels(row.labels, stand) : this.#labels(stand, row.labels);
    const claim = this.#claims(labels, taken);
    for (let step = row.from; step < row.from + row.values.length; step++) {
      const index = indexAt(row, step);
      if (index !== -1 && others.every((other) => indexAt(other, step) === -1)) {
        const sample = sampleOf(row, index);
        this.#put(step, rowIsMany ? sample : fill, rowIsMany ? fill : sample, claim);
      }
    }
    return this.#take(labels, row.dropName);
  }

  #labels(many: Labels, one: Labels): Labels {
    const { bool, matching } = this.#expr;
    return resultLabels(
      matching,
      many,
      one,
      this.#compute !== undefined || (bool && !this.#run.delayedNameRemoval),
    );
  }

  /**
   * Returns a function that claims a step for a series; a second match at the same step is an
   * error.
   */
  #claims(labels: Labels, taken: Map<string, Uint8Array>): (step: number) => void {
    const oneToOne = this.#expr.matching.card === 'one-to-one';
    const key = oneToOne ? '' : labelsKey(labels);
    let steps = taken.get(key);
    if (steps === undefined) {
      this.#run.budget.bytes(this.#grid.count);
      steps = new Uint8Array(this.#grid.count);
      taken.set(key, steps);
    }
    const claimed = steps;
    return (step) => {
      if (claimed[step] === 1) {
        throw executionError(
          oneToOne
            ? 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)'
            : 'multiple matches for labels: grouping labels must ensure unique matches',
        );
      }
      claimed[step] = 1;
    };
  }

  #put(step: number, many: Operand, one: Operand, claim: (step: number) => void): void {
    const left = this.#swapped ? one : many;
    const right = this.#swapped ? many : one;
    if (typeof left !== 'number' || typeof right !== 'number' || this.#trims) {
      const found = operateNatively(this.#expr.op, left, right, this.#notes);
      if (found !== undefined) {
        claim(step);
        putOutcome(this.#builder, step, found, this.#expr.bool);
      }
      return;
    }
    claim(step);
    if (this.#compute !== undefined) {
      this.#builder.put(step, this.#compute(left, right));
      return;
    }
    const holds = this.#compare!(left, right);
    if (this.#expr.bool || holds) {
      this.#builder.put(step, this.#expr.bool ? Number(holds) : left);
    }
  }

  #take(labels: Labels, dropName: boolean): Row[] {
    const row = this.#builder.take(
      labels,
      this.#expr.bool || (dropName && this.#compute === undefined),
    );
    return row === undefined ? [] : [row];
  }
}
