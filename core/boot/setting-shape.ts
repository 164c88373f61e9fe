import { Ajv, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';

import type { FieldProblem } from '../sdk/index.ts';

const compiler = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  logger: false,
  // Schemas of packs are strangers' work: their patterns run on an engine that no pattern can stall.
  code: {
    regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 'RE2JS' }),
  },
});

/** By text: a reload brings the same schema as another object. */
const checks = new Map<string, ValidateFunction>();

/** Why `value` does not fit `schema`; undefined when it does. It never repeats the value, which may be a secret. */
export function misfit(schema: object, value: unknown): FieldProblem | undefined {
  const check = checkOf(schema);
  if (check(value)) {
    return undefined;
  }
  const error = check.errors?.[0];
  const allowed = error?.keyword === 'enum' ? `: ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}` : '';
  return { path: error?.instancePath ?? '', message: `${error?.message ?? 'does not fit'}${allowed}` };
}

function checkOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  let check = checks.get(text);
  if (check === undefined) {
    check = compiler.compile(schema);
    // An `$id` may come again with another text.
    compiler.removeSchema(schema);
    checks.set(text, check);
  }
  return check;
}
