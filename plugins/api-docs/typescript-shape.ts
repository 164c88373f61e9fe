import type { Schema } from './named-schemas.ts';

/**
 * Renders a JSON Schema as a TypeScript type; what TypeScript cannot express, such as bounds, is
 * left to the service.
 */
export function typeText(schema: Schema, indent = ''): string {
  if (typeof schema.$ref === 'string') {
    return schema.$ref.split('/').at(-1)!;
  }
  if ('const' in schema) {
    return JSON.stringify(schema.const);
  }
  if (Array.isArray(schema.enum)) {
    return union(schema.enum.map((value) => JSON.stringify(value)));
  }
  const branches = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (branches !== undefined) {
    return union(branches.map((branch) => typeText(branch, indent)));
  }
  if (Array.isArray(schema.allOf)) {
    return (schema.allOf as Schema[]).map((part) => typeText(part, indent)).join(' & ');
  }
  const types = [schema.type].flat() as readonly unknown[];
  return union(
    types.map((type) =>
      types.length > 1 && type === 'array' && schema.items === undefined
        ? 'unknown[]'
        : oneType(type, schema, indent),
    ),
  );
}

function oneType(type: unknown, schema: Schema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return listText(schema, indent);
    case 'object':
      return objectText(schema, indent);
    default:
      return schema.properties === undefined ? 'unknown' : objectText(schema, indent);
  }
}

function listText({ prefixItems, items }: Schema, indent: string): string {
  if (Array.isArray(prefixItems)) {
    return `[${(prefixItems as Schema[]).map((item) => typeText(item, indent)).join(', ')}]`;
  }
  const item = isSchema(items) ? typeText(items, indent) : 'unknown';
  return /[|&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function objectText(
  { properties, required = [], additionalProperties, patternProperties }: Schema,
  indent: string,
): string {
  const inner = `${indent}  `;
  const [pattern] = Object.values((patternProperties ?? {}) as Record<string, Schema>);
  const rest = pattern ?? (isSchema(additionalProperties) ? additionalProperties : undefined);
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).map(
    ([name, schema]) =>
      `${inner}${said(schema)}${keyText(name)}${(required as string[]).includes(name) ? '' : '?'}: ${typeText(schema, inner)};`,
  );
  if (fields.length === 0) {
    return `Record<string, ${rest === undefined ? 'unknown' : typeText(rest, indent)}>`;
  }
  return `{\n${[...fields, ...(rest === undefined ? [] : [`${inner}[name: string]: unknown;`])].join('\n')}\n${indent}}`;
}

/** Renders a description on the line of its field; it must not end its comment. */
const said = ({ description }: Schema): string =>
  typeof description === 'string' ? `/** ${commentText(description)} */ ` : '';

export const commentText = (text: string): string =>
  text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ');

export const keyText = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);

const union = (parts: readonly string[]): string => [...new Set(parts)].join(' | ');

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
