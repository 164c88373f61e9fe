import { compares } from '../expression.ts';
import type { Kind } from './kind.ts';
import { expressionLeg } from './metric-raw.ts';

/** LogQL that counts, with its comparison. */
export const logVolume: Kind = {
  read(fields) {
    const expr = fields.text('expr');
    if (!compares(expr)) {
      throw fields.wrong('expr', 'compares nothing, so it would fire whenever there are lines; add a comparison such as > 100');
    }
    const lasting = fields.lasting();
    fields.end();
    return { expr, ...lasting };
  },
  written: ({ expr }) => [{ field: 'expr', text: String(expr), language: 'logql', wants: 'number' }],
  leg: ({ expr, for: lasting }) => expressionLeg('logs', String(expr), lasting),
};
