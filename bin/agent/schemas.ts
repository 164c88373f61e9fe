/** JSON Schema as far as plugin.json, settings and specs of this product need it; any other keyword is refused, not ignored. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * Violation in the shape of ajv's, so that the wording of a refusal does not depend on the checker.
 */
export interface Misfit {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface Checking {
  readonly root: Schema;
  /** Puts declared defaults where a property is missing. */
  readonly defaults: boolean;
}

type Say = (keyword: string, message: string, params?: Record<string, unknown>) => void;
type Check = (argument: never, value: never, say: Say) => void;

const words = new Set([
  '$schema',
  '$id',
  'title',
  'description',
  'default',
  'definitions',
  '$comment',
  'examples',
  'format',
  'properties',
  'required',
]);
const more = (count: number, unit: string, least: string): string =>
  `must NOT have ${least} than ${count} ${unit}`;
const lengthOf = (text: string): number => Array.from(text).length;

const ofStrings: Readonly<Record<string, Check>> = {
  minLength: (least: number, text: string, say: Say) =>
    lengthOf(text) < least && say('minLength', more(least, 'characters', 'fewer')),
  maxLength: (most: number, text: string, say: Say) =>
    lengthOf(text) > most && say('maxLength', more(most, 'characters', 'more')),
  pattern: (pattern: string, text: string, say: Say) =>
    !patternOf(pattern).test(text) && say('pattern', `must match pattern "${pattern}"`),
};

const ofNumbers: Readonly<Record<string, Check>> = {
  minimum: (least: number, value: number, say: Say) =>
    value < least && say('minimum', `must be >= ${least}`),
  maximum: (most: number, value: number, say: Say) =>
    value > most && say('maximum', `must be <= ${most}`),
  exclusiveMinimum: (least: number, value: number, say: Say) =>
    value <= least && say('exclusiveMinimum', `must be > ${least}`),
  exclusiveMaximum: (most: number, value: number, say: Say) =>
    value >= most && say('exclusiveMaximum', `must be < ${most}`),
};

const ofArrays: Readonly<Record<string, Check>> = {
  minItems: (least: number, list: unknown[], say: Say) =>
    list.length < least && say('minItems', more(least, 'items', 'fewer')),
  maxItems: (most: number, list: unknown[], say: Say) =>
    list.length > most && say('maxItems', more(most, 'items', 'more')),
  uniqueItems: (unique: boolean, list: unknown[], say: Say) =>
    unique &&
    new Set(list.map((item) => JSON.stringify(item))).size < list.length &&
    say('uniqueItems', 'must NOT have duplicate items'),
};

const ofObjects: Readonly<Record<string, Check>> = {
  minProperties: (least: number, object: object, say: Say) =>
    Object.keys(object).length < least && say('minProperties', more(least, 'properties', 'fewer')),
  maxProperties: (most: number, object: object, say: Say) =>
    Object.keys(object).length > most && say('maxProperties', more(most, 'properties', 'more')),
};

const nested = new Set([
  'items',
  'propertyNames',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  '$ref',
  'enum',
  'const',
  'type',
]);
const families: readonly Readonly<Record<string, Check>>[] = [
  ofStrings,
  ofNumbers,
  ofArrays,
  ofObjects,
];
const patterns = new Map<string, RegExp>();

/** Patterns are the product's own: what an edge loads has come with it. */
function patternOf(pattern: string): RegExp {
  let known = patterns.get(pattern);
  if (!known) {
    known = new RegExp(pattern, 'u');
    patterns.set(pattern, known);
  }
  return known;
}

/** Everything about `value` that does not fit. */
export function misfits(schema: Schema, value: unknown, checking: Checking, path = ''): Misfit[] {
  const found: Misfit[] = [];
  const say: Say = (keyword, message, params = {}) =>
    void found.push({ instancePath: path, keyword, params, message });
  const inside = (inner: unknown, item: unknown, place: string): void =>
    void found.push(...misfits(inner as Schema, item, checking, place));
  const own = kindOf(value);
  for (const [keyword, argument] of Object.entries(schema)) {
    const family = families.find((one) => Object.hasOwn(one, keyword));
    if (family) {
      if (family === own) {
        (family[keyword] as (argument: unknown, value: unknown, say: Say) => void)(
          argument,
          value,
          say,
        );
      }
    } else if (!words.has(keyword) && !nested.has(keyword)) {
      throw new Error(`schemas on an edge do not support the keyword "${keyword}"`);
    }
  }
  const { type, $ref: reference, const: only } = schema;
  const allowed = schema['enum'] as unknown[] | undefined;
  if (typeof reference === 'string') {
    inside(resolve(reference, checking.root), value, path);
  }
  if (type !== undefined && ![type].flat().some((name) => isOf(value, name as string))) {
    say('type', `must be ${([type].flat() as string[]).join(',')}`, { type });
    return found;
  }
  if (allowed && !allowed.some((one) => same(one, value))) {
    say('enum', 'must be equal to one of the allowed values', { allowedValues: allowed });
  }
  if ('const' in schema && !same(only, value)) {
    say('const', 'must be equal to constant', { allowedValue: only });
  }
  if (
    schema['not'] !== undefined &&
    misfits(schema['not'] as Schema, value, { ...checking, defaults: false }, path).length === 0
  ) {
    say('not', 'must NOT be valid');
  }
  for (const word of ['anyOf', 'oneOf', 'allOf'] as const) {
    choose(
      word,
      schema[word] as Schema[] | undefined,
      (one) => misfits(one, value, checking, path),
      say,
      found,
    );
  }
  if (own === ofArrays && schema['items'] !== undefined) {
    (value as unknown[]).forEach((item, index) =>
      inside(schema['items'], item, `${path}/${index}`),
    );
  }
  if (own === ofObjects) {
    checkMembers(schema, value as Record<string, unknown>, checking, path, say, inside);
  }
  return found;
}

function checkMembers(
  schema: Schema,
  value: Record<string, unknown>,
  { defaults, root }: Checking,
  path: string,
  say: Say,
  inside: (schema: unknown, item: unknown, place: string) => void,
): void {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  for (const name of (schema['required'] ?? []) as string[]) {
    if (!Object.hasOwn(value, name)) {
      say('required', `must have required property '${name}'`, { missingProperty: name });
    }
  }
  for (const [name, inner] of Object.entries(properties)) {
    if (defaults && !Object.hasOwn(value, name) && 'default' in inner) {
      value[name] = structuredClone(inner['default']);
    }
  }
  for (const [name, item] of Object.entries(value)) {
    const place = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const rest = schema['additionalProperties'];
    if (
      schema['propertyNames'] !== undefined &&
      misfits(schema['propertyNames'] as Schema, name, { root, defaults: false }).length > 0
    ) {
      inside(schema['propertyNames'], name, path);
      say('propertyNames', 'property name must be valid', { propertyName: name });
    }
    if (Object.hasOwn(properties, name)) {
      inside(properties[name], item, place);
    } else if (rest === false) {
      say('additionalProperties', 'must NOT have additional properties', {
        additionalProperty: name,
      });
    } else if (typeof rest === 'object') {
      inside(rest, item, place);
    }
  }
}

function choose(
  word: 'anyOf' | 'oneOf' | 'allOf',
  branches: Schema[] | undefined,
  check: (one: Schema) => Misfit[],
  say: Say,
  found: Misfit[],
): void {
  if (!branches) {
    return;
  }
  const verdicts = branches.map(check);
  const fitting = verdicts.filter((verdict) => verdict.length === 0).length;
  if (
    word === 'allOf' ? fitting < branches.length : word === 'anyOf' ? fitting === 0 : fitting !== 1
  ) {
    found.push(...(word === 'allOf' ? verdicts.flat() : []));
    say(
      word,
      word === 'oneOf'
        ? 'must match exactly one schema in oneOf'
        : `must match ${word === 'allOf' ? 'every' : 'a'} schema in ${word}`,
    );
  }
}

function kindOf(value: unknown): Readonly<Record<string, Check>> | undefined {
  return typeof value === 'string'
    ? ofStrings
    : typeof value === 'number'
      ? ofNumbers
      : Array.isArray(value)
        ? ofArrays
        : typeof value === 'object' && value !== null
          ? ofObjects
          : undefined;
}

function resolve(reference: string, root: Schema): Schema {
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Schema | undefined)?.[name], root);
  if (typeof found !== 'object' || found === null) {
    throw new Error(
      `schemas on an edge can refer to their own definitions only, not to "${reference}"`,
    );
  }
  return found as Schema;
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

const same = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));
