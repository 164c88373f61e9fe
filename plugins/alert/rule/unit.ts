import type { Rule } from './rule.ts';

const byKind: Readonly<Partial<Record<Rule['kind'], string>>> = {
  trace_error_rate: ' %',
  trace_latency: ' ms',
};

/** Units by suffix of the metric name, more specific ones first. */
const byName: readonly (readonly [RegExp, string])[] = [
  [/_percent\b|^\s*100\s*\*/, ' %'],
  [/_bytes_per_second\b/, ' B/s'],
  [/_bytes\b/, ' B'],
  [/_milliseconds\b/, ' ms'],
  [/_seconds\b/, ' s'],
  [/_celsius\b/, ' °C'],
];

/**
 * Matches expressions whose result is no longer in the unit of their metrics: counted, per second,
 * or divided by one another.
 */
const other =
  /\b(?:rate|irate|increase|count|count_over_time|absent|absent_over_time|changes|time)\s*(?:by\s*\([^)]*\)\s*)?\(|[\w)}\]]\s*\/\s*[\w(]/;

/**
 * Returns the unit suffix of a rule's values, such as ` %`; empty if unknown, or if its conditions
 * differ.
 */
export function unitOf({ kind, conditions }: Pick<Rule, 'kind' | 'conditions'>): string {
  const known = byKind[kind];
  if (known !== undefined) {
    return known;
  }
  const units = new Set(
    conditions.map(({ metric, expr }) =>
      unitIn(typeof metric === 'string' ? metric : typeof expr === 'string' ? expr : ''),
    ),
  );
  return units.size === 1 ? [...units][0]! : '';
}

function unitIn(query: string): string {
  const plain = query.replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '');
  const [percent, ...rest] = byName;
  if (percent![0].test(plain) && (/^\s*100\s*\*/.test(plain) || !other.test(plain))) {
    return percent![1];
  }
  return other.test(plain) ? '' : (rest.find(([form]) => form.test(plain))?.[1] ?? '');
}
