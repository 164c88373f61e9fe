import type { TSchema } from 'typebox';

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/**
 * Returns the shape of a change made from that of a whole: a field that is left out stays as it is,
 * so none has a default, which would reset it.
 */
export function changeShape<S extends TSchema>(whole: S): S {
  const { properties, required } = whole as unknown as Partial<ObjectSchema>;
  if (properties === undefined || !Object.values(properties).some(hasDefault)) {
    return whole;
  }
  return {
    ...whole,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, withoutDefault(schema)]),
    ),
    ...(required && { required: required.filter((name) => !hasDefault(properties[name]!)) }),
  };
}

const hasDefault = (schema: object): boolean => Object.hasOwn(schema, 'default');

function withoutDefault(schema: object): object {
  const { default: _, ...rest } = schema as { readonly default?: unknown };
  return hasDefault(schema) ? rest : schema;
}
