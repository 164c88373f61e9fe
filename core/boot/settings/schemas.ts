import { Ajv, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';

import type { Misfit, Schemas } from '../../host/index.ts';

const options = {
  strict: false,
  meta: false,
  validateSchema: false,
  allErrors: true,
  verbose: true,
  logger: false,
  // Most of these check a few values in the life of a process: a second pass over their text would cost more than it saves.
  code: { optimize: false },
} as const;

/** Schemas of packs are strangers' work: their patterns run on an engine that no pattern can stall. */
const linear = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
  code: 'RE2JS',
});

const plain = new Ajv({ ...options, code: { ...options.code, regExp: linear } });
/** Checker that fills in defaults; only for schemas of the product: those of manifests. */
const filling = new Ajv({ ...options, useDefaults: true });

/**
 * Checks by schema text: a reload brings most schemas again unchanged, and compiling one takes
 * longer than all its checks.
 */
const known = new Map<string, ValidateFunction>();
const maxKnown = 1_000;

function compiled(schema: object, defaults: boolean): ValidateFunction {
  const text = `${defaults}${JSON.stringify(schema)}`;
  let check = known.get(text);
  if (check === undefined) {
    const compiler = defaults ? filling : plain;
    check = compiler.compile(schema);
    // A changed plugin brings the same `$id` again with another text.
    compiler.removeSchema(schema);
    if (known.size >= maxKnown) {
      known.delete(known.keys().next().value!);
    }
    known.set(text, check);
  }
  return check;
}

/** JSON Schema whole, for a manager. */
export const ajvSchemas: Schemas = {
  compile(schema, { defaults = false } = {}) {
    const check = compiled(schema, defaults);
    return (value) => (check(value) ? [] : (check.errors as readonly Misfit[]));
  },
};
