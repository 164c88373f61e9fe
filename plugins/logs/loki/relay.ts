import type { Enforced } from 'svc/contracts/metricsdb';
import { JsonBytes, type Labels } from 'svc/query';

import { type Expr, parse, printExpr } from '../logql/index.ts';
import type { Batch } from '../store/lines/batch.ts';
import { nanosText } from '../store/lines/nanos.ts';

/** A batch as a push body of Loki's JSON shape. */
export function pushBody(batch: Batch): Uint8Array {
  const json = new JsonBytes(batch.used * 2 + 1_024).raw('{"streams":[');
  batch.parts.forEach(({ labels, from, to }, index) => {
    json.raw(index === 0 ? '{"stream":' : ',{"stream":');
    json.pairs(labels);
    json.raw(',"values":[');
    for (let i = from; i < to; i++) {
      json
        .raw(i === from ? '["' : ',["')
        .raw(nanosText({ ms: batch.ms[i]!, ns: batch.ns[i]! }))
        .raw('",')
        .string(batch.lineAt(i));
      const meta: Labels = batch.metas[batch.meta[i]!]!;
      if (meta.length > 0) {
        json.raw(',');
        json.pairs(meta);
      }
      json.raw(']');
    }
    json.raw(']}');
  });
  return json.raw(']}').finish();
}

/** The query with what the asker may see in every selector; a selector of its own where there is no query. */
export function enforcedQuery(query: string, enforce: readonly Enforced[]): string {
  if (query === '') {
    return printExpr({ kind: 'log', matchers: enforce, stages: [] });
  }
  return printExpr(enforced(parse(query), enforce));
}

function enforced<E extends Expr>(expr: E, enforce: readonly Enforced[]): E {
  switch (expr.kind) {
    case 'log':
      return { ...expr, matchers: [...expr.matchers, ...enforce] };
    case 'range':
      return { ...expr, log: enforced(expr.log, enforce) };
    case 'aggregation':
    case 'label_replace':
      return { ...expr, inner: enforced(expr.inner, enforce) };
    case 'binary':
      return { ...expr, left: enforced(expr.left, enforce), right: enforced(expr.right, enforce) };
    case 'number':
    case 'vector':
      return expr;
  }
}
