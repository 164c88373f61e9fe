import type { FieldProblem } from '../../core/sdk/index.ts';
import { misfits, type Schema } from './small-schema.ts';

/** In the place of setting-shape.ts in the program of an edge. */
export function misfit(schema: object, value: unknown): FieldProblem | undefined {
  const [first] = misfits(schema as Schema, value, { root: schema as Schema, defaults: false });
  if (!first) {
    return undefined;
  }
  const allowed = first.keyword === 'enum' ? `: ${(first.params['allowedValues'] as unknown[]).join(', ')}` : '';
  return { path: first.instancePath, message: first.message + allowed };
}
