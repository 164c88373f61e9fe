import {
  compareLabels,
  compileRegex,
  type Labels,
  labelValue,
  type Pattern,
  withLabel,
  sortedList,
} from 'svc/query';

import { numbersOf } from '../histogram/rows.ts';
import { type Call, type Expr, withoutParens } from '../parse/ast.ts';
import { isLabelName } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { compareNumbers } from '../vector/arithmetic.ts';
import { mergeRows } from '../vector/rows.ts';
import { type Grid, pace, type Row, rowsOf, type Run } from '../vector/run.ts';

/** The type checker has seen to it that it is a text. */
export function textOf(expr: Expr): string {
  const inner = withoutParens(expr);
  return inner.node === 'string' ? inner.value : '';
}

export async function labelReplace(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const [target, replacement, source, expression] = args.slice(1).map(textOf) as [
    string,
    string,
    string,
    string,
  ];
  const pattern = compile(expression);
  if (!mayName(run, target)) {
    throw executionError(`invalid destination label name in label_replace(): ${target}`);
  }
  return relabel(run, grid, args[0]!, target, (labels) => {
    const groups = pattern.exec(labelValue(labels, source));
    return groups === undefined ? undefined : pattern.expand(groups, replacement);
  });
}

const legacyName = /^[a-zA-Z_]\w*$/;

const mayName = (run: Run, name: string): boolean =>
  run.legacyLabelNames ? legacyName.test(name) : isLabelName(name);

function compile(expression: string): Pattern {
  try {
    return compileRegex(expression, { anchored: true, dotAll: true });
  } catch (error) {
    throw Object.assign(
      executionError(`invalid regular expression in label_replace(): ${expression}`),
      { cause: error },
    );
  }
}

export async function labelJoin(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const [target, separator, ...sources] = args.slice(1).map(textOf) as [
    string,
    string,
    ...string[],
  ];
  const bad = sources.find((source) => !mayName(run, source));
  if (bad !== undefined) {
    throw executionError(`invalid source label name in label_join(): ${bad}`);
  }
  if (!mayName(run, target)) {
    throw executionError(`invalid destination label name in label_join(): ${target}`);
  }
  return relabel(run, grid, args[0]!, target, (labels) =>
    sources.map((source) => labelValue(labels, source)).join(separator),
  );
}

/**
 * Rewrites labels; `undefined` leaves a series unchanged. A metric name that is set is kept in the
 * answer.
 */
async function relabel(
  run: Run,
  grid: Grid,
  expr: Expr,
  target: string,
  valueFor: (labels: Labels) => string | undefined,
): Promise<readonly Row[]> {
  const rows = await rowsOf(run, expr, grid);
  const paced = pace(run);
  const result: Row[] = [];
  for (const row of rows) {
    const value = valueFor(row.labels);
    result.push(
      value === undefined
        ? row
        : {
            ...row,
            labels: withLabel(row.labels, target, value),
            dropName: target !== '__name__' && row.dropName,
          },
    );
    // A pattern takes as long as some hundred steps.
    await paced(100);
  }
  return await mergeRows(run, grid, result);
}

export async function sortByValue(
  run: Run,
  call: Call,
  grid: Grid,
  sign: number,
): Promise<readonly Row[]> {
  const rows = numbersOf(await rowsOf(run, call.args[0]!, grid));
  return grid.count > 1
    ? unsorted(run, call, rows)
    : await sortedList(
        rows,
        (a, b) => compareNumbers(a.values[0]!, b.values[0]!, sign),
        run.budget,
      );
}

export async function sortByLabel(
  run: Run,
  call: Call,
  grid: Grid,
  sign: number,
): Promise<readonly Row[]> {
  const rows = await rowsOf(run, call.args[0]!, grid);
  if (grid.count > 1) {
    return unsorted(run, call, rows);
  }
  const names = call.args.slice(1).map(textOf);
  const compare = (a: Row, b: Row): number => {
    for (const name of names) {
      const order = naturalOrder(labelValue(a.labels, name), labelValue(b.labels, name));
      if (order !== 0) {
        return sign * order;
      }
    }
    return sign * compareLabels(a.labels, b.labels);
  };
  return await sortedList(rows, compare, run.budget);
}

function unsorted(run: Run, call: Call, rows: readonly Row[]): readonly Row[] {
  run.notes.warn(
    call.start,
    'sort is ineffective for range queries since results are always ordered by labels',
  );
  return rows;
}

const chunks = /\d+|\D+/g;

/** Compares texts with runs of digits as numbers: `cpu2` before `cpu10`. */
function naturalOrder(a: string, b: string): number {
  const left = a.match(chunks) ?? [];
  const right = b.match(chunks) ?? [];
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const order = compareChunks(left[i]!, right[i]!);
    if (order !== 0) {
      return order;
    }
  }
  return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0);
}

function compareChunks(a: string, b: string): number {
  if (isDigits(a) && isDigits(b)) {
    const left = a.replace(/^0+/, '');
    const right = b.replace(/^0+/, '');
    if (left !== right) {
      return left.length - right.length || (left < right ? -1 : 1);
    }
    return 0;
  }
  return a === b ? 0 : a < b ? -1 : 1;
}

const isDigits = (chunk: string): boolean => chunk >= '0' && chunk < ':';
