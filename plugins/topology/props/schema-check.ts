import { errors } from './errors.ts';

/** Content of a keyword: a schema, a list of them, schemas by name, or a plain value. */
const keywords: ReadonlyMap<string, 'schema' | 'schemas' | 'named' | 'value'> = new Map([
  ...named(
    'schema',
    'not if then else additionalItems additionalProperties contains propertyNames',
  ),
  ...named('schemas', 'allOf anyOf oneOf'),
  ...named('named', 'properties patternProperties'),
  ...named(
    'value',
    '$schema $comment title description default examples readOnly writeOnly type enum const format required pattern',
  ),
  ...named(
    'value',
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems',
  ),
  ...named('value', 'minProperties maxProperties'),
]);

const dialect = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const longest = 16_384;
const deepest = 8;
const maxParts = 300;
const longestPattern = 300;

type Part = readonly [path: string, schema: unknown, depth: number];

/**
 * Throws unless a stranger's schema can be compiled and run safely: small, flat enough, of known
 * keywords, and without references, which could name a remote address, be circular, or make little
 * text stand for endless work.
 */
export function assertSchema(schema: Readonly<Record<string, unknown>>): void {
  if (JSON.stringify(schema).length > longest) {
    refuse('', `is longer than ${longest / 1_024} KiB`);
  }
  if (schema.type !== undefined && schema.type !== 'object') {
    refuse('/type', 'must be object, because props are one');
  }
  const waiting: Part[] = [['', schema, 1]];
  for (let seen = 0; waiting.length > 0; seen += 1) {
    if (seen >= maxParts) {
      refuse('', `has more than ${maxParts} parts`);
    }
    waiting.push(...partsOf(waiting.pop()!));
  }
}

function partsOf([path, schema, depth]: Part): Part[] {
  if (typeof schema === 'boolean') {
    return [];
  }
  if (!isObject(schema)) {
    return refuse(path, 'is not a schema');
  }
  if (depth > deepest) {
    return refuse(path, `is more than ${deepest} levels deep`);
  }
  return Object.entries(schema).flatMap(([keyword, value]): Part[] => {
    const at = `${path}/${keyword}`;
    switch (
      keyword === 'items' ? (Array.isArray(value) ? 'schemas' : 'schema') : keywords.get(keyword)
    ) {
      case 'schema':
        return [[at, value, depth + 1]];
      case 'schemas':
        return Array.isArray(value)
          ? value.map((part, index): Part => [`${at}/${index}`, part, depth + 1])
          : refuse(at, 'must be a list of schemas');
      case 'named':
        return isObject(value)
          ? Object.entries(value).map(([name, part]): Part => [`${at}/${name}`, part, depth + 1])
          : refuse(at, 'must be schemas by name');
      case 'value':
        return (assertValue(at, keyword, value), []);
      default:
        return refuse(
          at,
          /^\$|^id$/.test(keyword)
            ? 'is not supported: a schema here must be self-contained'
            : 'is not a supported keyword',
        );
    }
  });
}

function assertValue(at: string, keyword: string, value: unknown): void {
  if (keyword === 'pattern' && typeof value === 'string' && value.length > longestPattern) {
    refuse(at, `has more than ${longestPattern} characters`);
  }
  if (keyword === '$schema' && !(typeof value === 'string' && dialect.test(value))) {
    refuse(at, 'must be http://json-schema.org/draft-07/schema#, or absent');
  }
}

export function refuse(path: string, message: string): never {
  const place = path.slice(0, 200);
  throw errors.schema(
    { at: place.replaceAll('/', '.'), message },
    { details: [{ path: `/schema${place}`, message }] },
  );
}

function named<const K extends string>(kind: K, names: string): (readonly [string, K])[] {
  return names.split(' ').map((name) => [name, kind] as const);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
