import type { Convention } from 'svc/contracts/investigate';
import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { ReadyConvention } from '../conventions/known-conventions.ts';
import type { Inventory } from '../fetch/inventory.ts';
import { failingBy } from '../fetch/outcomes.ts';

/** Convention that fits a metric of the store, with its query written for that metric. */
export interface Binding {
  readonly convention: Convention;
  readonly metric: string;
  /** Name of the signal, as reports have it. */
  readonly name: string;
  /** `$on` and `$by` are left to fill in. */
  readonly query: string;
  readonly rows: readonly LabelRecord[];
}

/** Returns the conventions that fit what is measured, and the metrics that none fits. */
export function bindingsOf(
  { rows, outcomes }: Inventory,
  conventions: readonly ReadyConvention[],
): {
  readonly bindings: readonly Binding[];
  readonly unknown: ReadonlyMap<string, readonly LabelRecord[]>;
} {
  const byMetric = new Map<string, LabelRecord[]>();
  rows.forEach((row) => {
    const metric = row['__name__'] ?? '';
    const known = byMetric.get(metric);
    if (known === undefined) {
      byMetric.set(metric, [row]);
    } else {
      known.push(row);
    }
  });
  const bindings: Binding[] = [];
  const unknown = new Map<string, readonly LabelRecord[]>();
  for (const [metric, own] of byMetric) {
    const before = bindings.length;
    for (const { convention, match } of conventions) {
      const groups = match(metric);
      const query =
        groups && queryOf(convention, groups, byMetric, failingBy(outcomes?.get(metric)));
      if (query !== undefined) {
        const name = convention.name ?? signalName(convention, metric);
        bindings.push({ convention, metric, name, query, rows: own });
      }
    }
    if (bindings.length === before) {
      unknown.set(metric, own);
    }
  }
  return { bindings, unknown };
}

/** Returns the query for one metric; undefined where something else that it needs is not measured. */
function queryOf(
  { query, needs = [] }: Convention,
  groups: readonly string[],
  metrics: ReadonlyMap<string, unknown>,
  ways: readonly string[],
): string | undefined {
  const filled = (text: string): string =>
    text.replaceAll(/\$(\d)/g, (_, at: string) => groups[Number(at)] ?? '');
  const needed = needs.map((need) => nameLike(filled(need), metrics));
  if (needed.includes(undefined) || (query.includes('$failing') && ways.length === 0)) {
    return undefined;
  }
  return filled(
    query.replaceAll(
      '$failing',
      `(${ways.map((matcher) => `rate($metric{$on,${matcher}}[5m])`).join(' or ')})`,
    ),
  )
    .replaceAll('$metric', groups[0]!)
    .replaceAll('$need', needed[0] ?? '');
}

/** A name with alternatives in it, such as `pool_(?:max|limit)`: the first that is measured. */
function nameLike(pattern: string, metrics: ReadonlyMap<string, unknown>): string | undefined {
  const [, before, alternatives, after] = /^(.*)\(\?:([\w|]+)\)(.*)$/.exec(pattern) ?? [];
  const names =
    alternatives === undefined
      ? [pattern]
      : alternatives.split('|').map((one) => `${before}${one}${after}`);
  return names.find((name) => metrics.has(name));
}

/** A name that says what of the metric is meant, where that is not the metric as it is. */
function signalName({ kind, unit, query, title }: Convention, metric: string): string {
  const base = metric.replace(/_(?:bucket|sum|count|total)$/, '');
  if (kind === 'error_ratio' && unit === 'ratio') {
    return query.includes('$failing') ? `${base} failing` : `${base} down`;
  }
  if (kind === 'latency') {
    return query.includes('histogram_quantile')
      ? `${base} p95`
      : query.includes('$1_sum')
        ? `${base} mean`
        : metric;
  }
  return /^\w+ by \(\$by\) \(\$metric\{\$on\}\)$/.test(query)
    ? metric
    : query.startsWith('sum by ($by) (rate($metric{$on}')
      ? `${base} per second`
      : `${base} (${title})`;
}
