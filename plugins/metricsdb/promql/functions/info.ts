import { type Labels, labelsKey, labelValue, type Matcher, matcher, withLabel } from 'svc/query';

import {
  type Call,
  childrenOf,
  type Expr,
  type Placement,
  type VectorSelector,
  withoutParens,
} from '../parse/ast.ts';
import { quoted } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { shownLabels } from '../vector/matching.ts';
import { milliseconds } from '../vector/placement.ts';
import { indexAt, mergeRows, RowBuilder } from '../vector/rows.ts';
import { type Grid, type Row, rowsOf, type Run } from '../vector/run.ts';
import { instantRows } from '../vector/selection.ts';

/** Labels that link an info series to a series. */
const identifying = ['instance', 'job'] as const;

/** Longer lists of values are left to the comparison of labels below. */
const longestPattern = 3_000;

/** Gives series the labels of the info series that tell of the same instance and job. */
export async function info(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const rows = await rowsOf(run, args[0]!, grid);
  const wanted = args[1] === undefined ? undefined : withoutParens(args[1]);
  const matchers = wanted?.node === 'selector' ? wanted.matchers : [];
  const data = matchers.filter(({ name }) => name !== '__name__');
  const names = infoNames(matchers.filter(({ name }) => name === '__name__'));
  const enriched = rows.filter(
    ({ labels }) => !names.every((one) => one.matches(labelValue(labels, '__name__'))),
  );
  const infos = await infoRows(
    run,
    grid,
    enriched,
    [...names, ...data],
    placementOf(run, args[0]!),
  );

  const builders = new Map<
    string,
    {
      readonly labels: Labels;
      readonly dropName: boolean;
      readonly points: [step: number, row: Row, index: number][];
    }
  >();
  for (const row of enriched) {
    const candidates = infos.filter(({ labels }) =>
      identifying.every((name) => labelValue(labels, name) === labelValue(row.labels, name)),
    );
    const known = new Map<string, Labels | undefined>();
    for (let step = row.from; step < row.from + row.values.length; step++) {
      const index = indexAt(row, step);
      if (index === -1) {
        continue;
      }
      const chosen = newest(candidates, step);
      const key = chosen.map((one) => infos.indexOf(one)).join();
      const labels = known.has(key) ? known.get(key) : combine(row.labels, chosen, data);
      known.set(key, labels);
      if (labels !== undefined) {
        const entry = builders.get(labelsKey(labels)) ?? {
          labels,
          dropName: row.dropName,
          points: [],
        };
        entry.points.push([step, row, index]);
        builders.set(labelsKey(labels), entry);
      }
    }
    await run.budget.breathe();
  }
  const untouched = rows.filter((row) => !enriched.includes(row));
  return mergeRows(run, grid, [
    ...untouched,
    ...[...builders.values()].map((entry) => built(run, grid, entry)),
  ]);
}

function built(
  run: Run,
  grid: Grid,
  {
    labels,
    dropName,
    points,
  }: { labels: Labels; dropName: boolean; points: readonly [number, Row, number][] },
): Row {
  const builder = new RowBuilder(run, grid);
  for (const [step, row, index] of points) {
    if (builder.has(step)) {
      throw executionError('vector cannot contain metrics with the same labelset');
    }
    builder.copy(step, row, index);
  }
  return builder.take(labels, dropName)!;
}

/** Which metrics are info metrics: those that are asked for, or else target_info. */
function infoNames(asked: readonly Matcher[]): readonly Matcher[] {
  if (asked.length === 0) {
    return [matcher('__name__', '=', 'target_info')];
  }
  return asked.some(({ op }) => op === '=' || op === '=~')
    ? asked
    : [matcher('__name__', '=~', '.+_info'), ...asked];
}

/** Info series are looked up when the first selector of the argument looks. */
function placementOf(run: Run, expr: Expr): Placement {
  const found = firstSelector(expr, []);
  if (found === undefined) {
    return { offset: 0 };
  }
  let offset = 0;
  for (const placed of [found.selector, ...found.around]) {
    offset += milliseconds(run, placed.offset, true);
    if (placed.at !== undefined) {
      return { offset, at: placed.at };
    }
  }
  return { offset };
}

/** Finds the first selector, with its enclosing subqueries, innermost first. */
function firstSelector(
  expr: Expr,
  around: readonly Placement[],
): { readonly selector: VectorSelector; readonly around: readonly Placement[] } | undefined {
  if (expr.node === 'selector') {
    return { selector: expr, around };
  }
  for (const child of childrenOf(expr)) {
    const found = firstSelector(child, expr.node === 'subquery' ? [expr, ...around] : around);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

async function infoRows(
  run: Run,
  grid: Grid,
  rows: readonly Row[],
  matchers: readonly Matcher[],
  placement: Placement,
): Promise<readonly Row[]> {
  const conditions = identifying.flatMap((name) => {
    const values = new Set(
      rows.map(({ labels }) => labelValue(labels, name)).filter((value) => value !== ''),
    );
    const pattern = [...values]
      .map((value) => value.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&'))
      .join('|');
    return values.size === 0 || pattern.length > longestPattern
      ? []
      : [matcher(name, '=~', pattern)];
  });
  if (rows.every(({ labels }) => identifying.every((name) => labelValue(labels, name) === ''))) {
    return [];
  }
  const selector: VectorSelector = {
    node: 'selector',
    name: '',
    matchers: [...conditions, ...matchers],
    ...placement,
    start: 0,
    end: 0,
  };
  return instantRows(run, selector, grid, 'info');
}

/** Returns, for each info metric, the series with the newest sample at this step. */
function newest(candidates: readonly Row[], step: number): Row[] {
  const best = new Map<string, Row>();
  for (const row of candidates) {
    if (indexAt(row, step) === -1) {
      continue;
    }
    const name = labelValue(row.labels, '__name__');
    const other = best.get(name);
    const time = row.values[step - row.from]!;
    const otherTime = other === undefined ? -Infinity : other.values[step - other.from]!;
    if (time === otherTime) {
      const [existing, added] = [other!, row].map(({ labels }) => shownLabels(labels, quoted));
      throw executionError(
        `found duplicate series for info metric: existing ${existing} @ ${otherTime * 1000}, new ${added} @ ${time * 1000}`,
      );
    }
    if (time > otherTime) {
      best.set(name, row);
    }
  }
  return [...best.values()];
}

/** Adds labels; undefined if there are none and a condition on them therefore fails. */
function combine(
  labels: Labels,
  infos: readonly Row[],
  data: readonly Matcher[],
): Labels | undefined {
  if (infos.length === 0 && data.some((one) => !one.matches(''))) {
    return undefined;
  }
  const wanted = new Set(data.map(({ name }) => name));
  const added = new Map<string, string>();
  for (const row of infos) {
    for (let i = 0; i < row.labels.length; i += 2) {
      const name = row.labels[i]!;
      const value = row.labels[i + 1]!;
      if (name === '__name__' || (wanted.size > 0 && !wanted.has(name))) {
        continue;
      }
      if ((added.get(name) ?? value) !== value) {
        throw executionError(`conflicting label: ${name}`);
      }
      if (labelValue(labels, name) === '') {
        added.set(name, value);
      }
    }
  }
  return [...added].reduce((all, [name, value]) => withLabel(all, name, value), labels);
}
