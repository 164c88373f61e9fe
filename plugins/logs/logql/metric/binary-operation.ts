import { type Labels, labelsKey, labelsOf, labelValue, queryError } from 'svc/query';

import type { BinaryExpr, BinaryOp, Matching } from '../syntax/ast.ts';
import { emptyRow, isEmpty, put, type Row, type Value } from './matrix.ts';

/** The value, or undefined when a comparison does not hold and no `bool` asks for 0. */
type Combine = (a: number, b: number) => number | undefined;

const arithmetic: ReadonlyMap<BinaryOp, (a: number, b: number) => number> = new Map([
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  // Division by zero is undefined in this language.
  ['/', (a, b) => (b === 0 ? NaN : a / b)],
  ['%', (a, b) => (b === 0 ? NaN : a % b)],
  ['^', (a, b) => a ** b],
]);

const comparisons: ReadonlyMap<BinaryOp, (a: number, b: number) => boolean> = new Map([
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
]);

/** `kept` is the side whose value a comparison lets through. */
function combineOf(op: BinaryOp, bool: boolean, kept: 'a' | 'b' = 'a'): Combine {
  const compare = comparisons.get(op);
  if (compare === undefined) {
    return arithmetic.get(op)!;
  }
  return bool
    ? (a, b) => (compare(a, b) ? 1 : 0)
    : (a, b) => (compare(a, b) ? (kept === 'a' ? a : b) : undefined);
}

export function binaryOperation(expr: BinaryExpr, left: Value, right: Value, steps: number): Value {
  const { op, bool, matching } = expr;
  if (left.kind === 'number' && right.kind === 'number') {
    return { kind: 'number', value: combineOf(op, true)(left.value, right.value)! };
  }
  if (left.kind === 'number') {
    const combine = combineOf(op, bool, 'b');
    return mapped(right as Rows, (value) => combine(left.value, value), steps);
  }
  if (right.kind === 'number') {
    const combine = combineOf(op, bool);
    return mapped(left, (value) => combine(value, right.value), steps);
  }
  switch (op) {
    case 'and':
    case 'unless':
    case 'or':
      return {
        kind: 'rows',
        rows: setOperation(op, left.rows, right.rows, signatureOf(matching), steps),
      };
    default:
      return { kind: 'rows', rows: matched(expr, left.rows, right.rows, steps) };
  }
}

type Rows = Extract<Value, { kind: 'rows' }>;

/** Applies a function to each value, keeping the order of rows if they have one. */
function mapped(given: Rows, work: (value: number) => number | undefined, steps: number): Rows {
  const rows = given.rows.map((row) => {
    const result = emptyRow(row.labels, steps);
    for (let step = 0; step < steps; step++) {
      const value = row.present[step] === 1 ? work(row.values[step]!) : undefined;
      if (value !== undefined) {
        put(result, step, value);
      }
    }
    return result;
  });
  return { ...given, rows };
}

type Signature = (labels: Labels) => string;

function signatureOf(matching: Matching | undefined): Signature {
  return (labels) => labelsKey(matchingLabels(labels, matching));
}

function matchingLabels(labels: Labels, matching: Matching | undefined): string[] {
  const flat: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    if (matching === undefined || matching.labels.includes(labels[i]!) === matching.on) {
      flat.push(labels[i]!, labels[i + 1]!);
    }
  }
  return flat;
}

/** Returns, for every signature, the steps at which any row has a value. */
function presence(
  rows: readonly Row[],
  signature: Signature,
  steps: number,
): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const row of rows) {
    const key = signature(row.labels);
    const present = found.get(key) ?? new Uint8Array(steps);
    found.set(key, present);
    row.present.forEach((is, step) => {
      present[step]! |= is;
    });
  }
  return found;
}

function setOperation(
  op: 'and' | 'unless' | 'or',
  left: readonly Row[],
  right: readonly Row[],
  signature: Signature,
  steps: number,
): Row[] {
  const filtered = (rows: readonly Row[], others: Map<string, Uint8Array>, wanted: 0 | 1): Row[] =>
    rows.map((row) => {
      const other = others.get(signature(row.labels));
      return {
        ...row,
        present: row.present.map((is, step) =>
          is === 1 && (other?.[step] ?? 0) === wanted ? 1 : 0,
        ),
      };
    });
  return op === 'or'
    ? united(left, filtered(right, presence(left, signature, steps), 0))
    : filtered(left, presence(right, signature, steps), op === 'and' ? 1 : 0);
}

/** Rows of both sides; one label set is one row, with the steps of both. */
function united(left: readonly Row[], right: readonly Row[]): Row[] {
  const byLabels = new Map(left.map((row) => [labelsKey(row.labels), row]));
  for (const row of right) {
    const key = labelsKey(row.labels);
    const same = byLabels.get(key);
    byLabels.set(
      key,
      same === undefined
        ? row
        : {
            labels: row.labels,
            values: row.values.map((value, step) =>
              same.present[step] === 1 ? same.values[step]! : value,
            ),
            present: row.present.map((is, step) => is | same.present[step]!),
          },
    );
  }
  return [...byLabels.values()];
}

/** Pairs rows of both sides by their signature, step by step; many-to-one if the query says so. */
function matched(
  { op, bool, matching }: BinaryExpr,
  left: readonly Row[],
  right: readonly Row[],
  steps: number,
): Row[] {
  const swapped = matching?.many === 'right';
  const [many, one] = swapped ? [right, left] : [left, right];
  const signature = signatureOf(matching);
  const partners = partnersOf(one, signature, swapped ? 'left' : 'right');
  const combine = combineOf(op, bool);
  const results = new Map<string, Row>();
  const taken = new Map<string, Uint8Array>();
  for (const row of many) {
    const key = signature(row.labels);
    for (const partner of partners.get(key) ?? []) {
      const labels = resultLabels(row.labels, partner.labels, matching);
      const resultKey = labelsKey(labels);
      const result = results.get(resultKey) ?? emptyRow(labels, steps);
      const used = taken.get(resultKey) ?? new Uint8Array(steps);
      for (let step = 0; step < steps; step++) {
        if (row.present[step] !== 1 || partner.present[step] !== 1) {
          continue;
        }
        if (used[step] === 1) {
          throw queryError('execution', manyFound(matching));
        }
        used[step] = 1;
        const value = swapped
          ? combine(partner.values[step]!, row.values[step]!)
          : combine(row.values[step]!, partner.values[step]!);
        if (value !== undefined) {
          put(result, step, value);
        }
      }
      results.set(resultKey, result);
      taken.set(resultKey, used);
    }
  }
  return [...results.values()].filter((row) => !isEmpty(row));
}

/** The rows that others are paired with; at each step, one of them at most may have a signature. */
function partnersOf(
  rows: readonly Row[],
  signature: Signature,
  side: 'left' | 'right',
): Map<string, Row[]> {
  const partners = new Map<string, Row[]>();
  for (const row of rows) {
    const key = signature(row.labels);
    const same = partners.get(key) ?? [];
    if (
      same.some(({ present }) => present.some((is, step) => is === 1 && row.present[step] === 1))
    ) {
      throw queryError(
        'execution',
        `found duplicate series on the ${side} hand-side;many-to-many matching not allowed: matching labels must be unique on one side`,
      );
    }
    partners.set(key, [...same, row]);
  }
  return partners;
}

const manyFound = (matching: Matching | undefined): string =>
  `multiple matches for labels: ${
    matching?.many === undefined
      ? 'many-to-one matching must be explicit (group_left/group_right)'
      : 'grouping labels must ensure unique matches'
  }`;

function resultLabels(many: Labels, one: Labels, matching: Matching | undefined): Labels {
  if (matching?.many === undefined) {
    return Object.freeze(matchingLabels(many, matching));
  }
  const pairs: [string, string][] = [];
  for (let i = 0; i < many.length; i += 2) {
    pairs.push([many[i]!, many[i + 1]!]);
  }
  return labelsOf([
    ...pairs,
    ...matching.include.map((name): [string, string] => [name, labelValue(one, name)]),
  ]);
}
