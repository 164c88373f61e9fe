/** A JSON Schema as data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Smaller objects read better where they are used. */
const leastFields = 3;

/** Gives the shapes of a document names: what looks the same has one name, so that a generated client has one type for it. */
export class Named {
  readonly schemas: Record<string, Schema>;
  readonly responses: Record<string, object> = {};
  readonly #names = new Map<string, string>();

  constructor(known: Readonly<Record<string, Schema>>) {
    this.schemas = { ...known };
  }

  /**
   * Returns a reference to the schema under `name`, or under an existing one of the same shape;
   * lists and small objects are inlined.
   */
  schema(schema: Schema, name: string): Schema {
    const { properties, items } = schema;
    if (isSchema(items)) {
      return { ...schema, items: this.schema(items, singular(name)) };
    }
    const branches = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(branches)) {
      const key = schema.anyOf === undefined ? 'oneOf' : 'anyOf';
      return {
        ...schema,
        [key]: (branches as Schema[]).map((branch, at) =>
          this.schema(branch, `${name}${branches.length > 2 ? at + 1 : ''}`),
        ),
      };
    }
    if (!isSchema(properties)) {
      return schema;
    }
    const text = JSON.stringify(schema);
    const known = this.#names.get(text);
    if (known !== undefined) {
      return { $ref: `#/components/schemas/${known}` };
    }
    const entries = Object.entries(properties as Record<string, Schema>);
    const nested = entries.map(([field, shape]) => [
      field,
      this.schema(shape, name + pascal(field)),
    ]);
    const inner = { ...schema, properties: Object.fromEntries(nested) as Record<string, Schema> };
    if (entries.length < leastFields) {
      return inner;
    }
    const own = this.#free(name);
    this.#names.set(text, own);
    this.schemas[own] = inner;
    return { $ref: `#/components/schemas/${own}` };
  }

  /** The same for a whole answer. */
  response(
    status: number,
    response: { readonly description: string; readonly content: object },
  ): object {
    const text = `${status} ${JSON.stringify(response)}`;
    const known = this.#names.get(text);
    const name = known ?? this.#freeResponse(`Answer${status}`);
    this.#names.set(text, name);
    this.responses[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }

  #free(name: string): string {
    return free(name, this.schemas);
  }

  #freeResponse(name: string): string {
    return free(name, this.responses);
  }
}

function free(name: string, taken: Readonly<Record<string, object>>): string {
  let own = name;
  for (let at = 2; Object.hasOwn(taken, own); at++) {
    own = `${name}${at}`;
  }
  return own;
}

/** Returns the schema of what clients send: fields that the service fills in are optional. */
export function asSent(schema: Schema): Schema {
  if (Array.isArray(schema)) {
    return (schema as Schema[]).map(asSent) as unknown as Schema;
  }
  if (!isSchema(schema)) {
    return schema;
  }
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'default' || key === 'enum' ? value : asSent(value as Schema),
    ]),
  );
  const { required, properties } = copy as {
    required?: readonly string[];
    properties?: Record<string, Schema>;
  };
  return Array.isArray(required) && properties !== undefined
    ? {
        ...copy,
        required: required.filter(
          (name) =>
            !(name in properties) ||
            !isSchema(properties[name]) ||
            !('default' in properties[name]),
        ),
      }
    : copy;
}

/** `alert-rules` → `AlertRules`. */
export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `AlertRules` → `AlertRule`, `Entries` → `Entry`, `Processes` → `Process`. */
export const singular = (name: string): string =>
  /(?:ss|us|is|series)$/i.test(name)
    ? name
    : name
        .replace(/(ss|x)es$/, '$1')
        .replace(/ies$/, 'y')
        .replace(/([^s])s$/, '$1');

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
