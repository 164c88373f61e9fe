import type { RouteDeclaration } from 'svc/sdk';

import type { Area } from './area.ts';

/** One place of a route in which an id stands, and the collection it is an id of. */
export interface IdPlace {
  readonly where: 'path' | 'query' | 'body';
  /** The parameter's name, or the way to a field of the body; a number is a place in a list. */
  readonly at: readonly (string | number)[];
  readonly collection: string;
}

type Schema = Readonly<Record<string, unknown>>;

const isId = (name: string): boolean => /(^|_)ids?$/.test(name);

/** Every place of a route that takes an id: all parameters of its path, and what is named like an id in query and body. */
export function idPlaces(
  { path, query, body }: RouteDeclaration,
  area: Area,
  every: readonly Area[],
): IdPlace[] {
  const fieldCollection = (name: string): string =>
    [area, ...every]
      .map(({ fields }) => fields?.[name])
      .find((collection) => collection !== undefined) ?? `${name.replace(/_?ids?$/, '')}s`;
  const inPath = path.split('/').flatMap((segment, index, segments): IdPlace[] => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      return [];
    }
    const collection = name.endsWith('_id')
      ? fieldCollection(name)
      : segments.slice(0, index).findLast((other) => !other.startsWith('{'))!;
    return [{ where: 'path', at: [name], collection }];
  });
  const within = (where: 'query' | 'body', schema: unknown): IdPlace[] =>
    fieldsOf(schema as Schema | undefined).map((at) => ({
      where,
      at,
      collection: fieldCollection(String(at.findLast((part) => typeof part === 'string'))),
    }));
  return [...inPath, ...within('query', query), ...within('body', body)];
}

/** Ways to the fields of a schema that are named like ids. */
function fieldsOf(
  schema: Schema | undefined,
  way: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (schema === undefined) {
    return [];
  }
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? (list as Schema[]) : [],
  );
  const items = schema.items === undefined ? [] : fieldsOf(schema.items as Schema, [...way, 0]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(
    ([name, field]) =>
      isId(name)
        ? [[...way, name, ...(field.type === 'array' ? [0] : [])]]
        : fieldsOf(field, [...way, name]),
  );
  const found = [...properties, ...items, ...choices.flatMap((choice) => fieldsOf(choice, way))];
  return [...new Map(found.map((at) => [at.join('/'), at])).values()];
}

/** A copy of `body` with `value` at the end of the way. */
export function withField(
  body: unknown,
  [first, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (first === undefined) {
    return value;
  }
  const container = (body ?? {}) as Record<string, unknown>;
  const inner = withField(
    Array.isArray(body) ? (body as unknown[])[first as number] : container[first],
    rest,
    value,
  );
  return typeof first === 'number' ? [inner] : { ...container, [first]: inner };
}

/** An id of the same form that nobody has. */
export const nobodys = (id: string | number): string | number =>
  typeof id === 'number'
    ? 999_999_999
    : /^[0-9a-f-]{36}$/.test(id)
      ? '019a0000-0000-7000-8000-000000000000'
      : 'nobody-has-this';
