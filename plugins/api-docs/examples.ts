import type { Schema } from './named-schemas.ts';

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  uuid: '0e37df36-f698-11e6-8dd4-cb9ced3df976',
  email: 'ada@example.org',
  uri: 'https://example.org/',
  ip: '192.0.2.1',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  duration: '5m',
  password: 'correct horse battery',
};

/** A value that fits: what the schema gives as an example, else the least that it demands. */
export function exampleOf(schema: Schema): unknown {
  if (Array.isArray(schema.examples) && schema.examples.length > 0) {
    return schema.examples[0] as unknown;
  }
  for (const key of ['const', 'default'] as const) {
    if (key in schema) {
      return schema[key];
    }
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum[0] as unknown;
  }
  const branches = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (branches !== undefined) {
    return exampleOf(branches[0]!);
  }
  if (Array.isArray(schema.allOf)) {
    return Object.assign({}, ...(schema.allOf as Schema[]).map(exampleOf)) as unknown;
  }
  return plainExample(schema);
}

function plainExample(schema: Schema): unknown {
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objectExample(schema);
    case 'array':
      return listExample(schema);
    case 'integer':
    case 'number':
      return numberExample(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return (
        formats[String(schema.format)] ??
        'example'
          .padEnd(Number(schema.minLength ?? 0), 'e')
          .slice(0, Number(schema.maxLength ?? Infinity))
      );
  }
}

/** One where that fits, else the least that is allowed. */
function numberExample({ minimum, exclusiveMinimum, maximum }: Schema): number {
  const least =
    minimum ?? (exclusiveMinimum === undefined ? undefined : Number(exclusiveMinimum) + 1);
  return Math.min(Math.max(1, Number(least ?? 1)), Number(maximum ?? Infinity));
}

/** Fields that must be there, and those for which the author gave an example. */
function objectExample({ required = [], properties = {}, minProperties = 0 }: Schema): object {
  const fields = Object.entries(properties as Record<string, Schema>);
  const wanted = fields.filter(
    ([name, field]) => (required as string[]).includes(name) || 'examples' in field,
  );
  const enough = wanted.length === 0 && Number(minProperties) > 0 ? fields.slice(0, 1) : wanted;
  return Object.fromEntries(enough.map(([name, field]) => [name, exampleOf(field)]));
}

function listExample({ prefixItems, items, minItems = 0 }: Schema): unknown[] {
  if (Array.isArray(prefixItems)) {
    return (prefixItems as Schema[]).map(exampleOf);
  }
  const count = Math.max(
    Number(minItems),
    items !== undefined && 'examples' in (items as object) ? 1 : 0,
  );
  return Array.from({ length: count }, () => exampleOf((items ?? {}) as Schema));
}

interface Shown {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
}

/** A path with the examples of its parameters in their places, and those of the query behind it. */
export function exampleAddress(path: string, parameters: readonly Shown[]): string {
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      String(
        parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example,
      ),
    ),
  );
  const search = new URLSearchParams();
  for (const { name, example } of parameters.filter(
    (parameter) => parameter.in === 'query' && parameter.example !== undefined,
  )) {
    for (const one of [example].flat()) {
      search.append(name, typeof one === 'string' ? one : JSON.stringify(one));
    }
  }
  return search.size === 0 ? place : `${place}?${search.toString()}`;
}
