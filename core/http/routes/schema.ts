/** A JSON Schema as data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const mapsOfSchemas = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
];
const listsOfSchemas = ['anyOf', 'oneOf', 'prefixItems'];
const singleSchemas = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
];

/** The schema in the 2020-12 dialect, which OpenAPI 3.1 shares; tuples are written the old way by the type builder. */
export const modern = (schema: Schema): Schema => rewrite(schema, false);

/** The same, and an object that lists its fields accepts no others unless it says so. */
export const closed = (schema: Schema): Schema => rewrite(schema, true);

function rewrite(schema: Schema, closing: boolean): Schema {
  if (typeof schema !== 'object' || schema === null) {
    return schema;
  }
  const copy: Record<string, unknown> = { ...schema };
  if (Array.isArray(schema.items)) {
    copy.prefixItems = schema.items;
    copy.items = schema.additionalItems ?? true;
    delete copy.additionalItems;
  }
  for (const keyword of mapsOfSchemas) {
    if (isObject(copy[keyword])) {
      copy[keyword] = Object.fromEntries(
        Object.entries(copy[keyword]).map(([name, nested]) => [
          name,
          rewrite(nested as Schema, closing),
        ]),
      );
    }
  }
  for (const keyword of listsOfSchemas) {
    if (Array.isArray(copy[keyword])) {
      copy[keyword] = (copy[keyword] as Schema[]).map((nested) => rewrite(nested, closing));
    }
  }
  for (const keyword of singleSchemas) {
    if (isObject(copy[keyword])) {
      copy[keyword] = rewrite(copy[keyword], closing);
    }
  }
  if (Array.isArray(schema.allOf)) {
    copy.allOf = (schema.allOf as Schema[]).map((part) => rewritePart(part, closing));
  }
  return closing ? close(copy) : copy;
}

/** A part of an intersection sees the fields of the other parts, so only the whole can be closed. */
function rewritePart(part: Schema, closing: boolean): Schema {
  const rewritten = rewrite(part, closing);
  if (
    !closing ||
    part.additionalProperties !== undefined ||
    part.unevaluatedProperties !== undefined
  ) {
    return rewritten;
  }
  const {
    additionalProperties: _closedByUs,
    unevaluatedProperties: _alsoByUs,
    ...open
  } = rewritten;
  return open;
}

function close(schema: Record<string, unknown>): Schema {
  if (schema.additionalProperties !== undefined || schema.unevaluatedProperties !== undefined) {
    return schema;
  }
  const composed =
    Array.isArray(schema.allOf) &&
    (schema.allOf as Schema[]).some((part) => part.properties !== undefined);
  return composed
    ? { ...schema, unevaluatedProperties: false }
    : schema.properties !== undefined
      ? { ...schema, additionalProperties: false }
      : schema;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
