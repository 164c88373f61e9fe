import { compileRegex, labelsKey, labelValue, queryError, withLabel } from 'svc/query';

import type { ReplaceExpr } from '../syntax/ast.ts';
import type { Row } from './matrix.ts';

/** Writes one label from the parts of another, where that matches. */
export function labelReplace({ target, replacement, source, regex }: ReplaceExpr, rows: readonly Row[]): Row[] {
  const pattern = compileRegex(regex, { anchored: true });
  const seen = new Set<string>();
  return rows.map((row) => {
    const groups = pattern.exec(labelValue(row.labels, source));
    const labels = groups === undefined ? row.labels : withLabel(row.labels, target, pattern.expand(groups, replacement));
    const key = labelsKey(labels);
    if (seen.has(key)) {
      throw queryError('execution', 'vector cannot contain metrics with the same labelset');
    }
    seen.add(key);
    return { ...row, labels };
  });
}
