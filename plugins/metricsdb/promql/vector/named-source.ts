import { type DeviceNameTable, nameLabel } from 'svc/query';

import { childrenOf, type Expr, withoutParens } from '../parse/ast.ts';
import type { Series, SeriesSource } from './source.ts';

/** True if the outcome of an expression depends on the label `device`. */
export function namesDevice(expr: Expr): boolean {
  return isNamedBy(expr) || childrenOf(expr).some(namesDevice);
}

function isNamedBy(expr: Expr): boolean {
  switch (expr.node) {
    case 'selector':
      return expr.matchers.some(({ name }) => name === nameLabel);
    case 'aggregation':
      return expr.grouping.includes(nameLabel);
    case 'binary':
      return [...expr.matching.labels, ...expr.matching.include].includes(nameLabel);
    case 'call':
      // Texts among the arguments of functions of labels are names of labels.
      return ['label_replace', 'label_join', 'sort_by_label', 'sort_by_label_desc'].includes(
        expr.func,
      )
        ? expr.args
            .map(withoutParens)
            .some((one) => one.node === 'string' && one.value === nameLabel)
        : false;
    default:
      return false;
  }
}

/** The source with names of devices joined to what it selects. */
export function namedSource(source: SeriesSource, names: DeviceNameTable): SeriesSource {
  const joined = (series: Series): Series => ({ ...series, labels: names.joined(series.labels) });
  const { scan, numbersOnly = false } = source;
  return {
    numbersOnly,
    async select(matchers, ...asked) {
      const found: Series[] = [];
      for (const stored of names.stored(matchers)) {
        for (const series of await source.select(stored, ...asked)) {
          found.push(joined(series));
        }
      }
      return found;
    },
    ...(scan && {
      async scan(matchers, mint, maxt, hints, cost, visit) {
        for (const stored of names.stored(matchers)) {
          await scan(stored, mint, maxt, hints, cost, (series) => visit(joined(series)));
        }
      },
    }),
  };
}
