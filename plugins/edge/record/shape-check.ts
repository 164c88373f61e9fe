import { Ajv, type Options, type ValidateFunction } from 'ajv';

const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
  !Number.isNaN(Date.parse(text));

const usual: Options = {
  strict: false,
  meta: false,
  validateSchema: false,
  logger: false,
  formats: { 'date-time': isInstant },
};

/**
 * Returns a check of whether an edge's message has this shape. Compiled at the first use: no start
 * waits for what may never come.
 */
export function shapeCheck<T>(
  schema: object,
  options: Options = {},
): (value: unknown) => value is T {
  let check: ValidateFunction<T> | undefined;
  return (value): value is T =>
    (check ??= new Ajv({ ...usual, ...options }).compile<T>(schema))(value);
}
