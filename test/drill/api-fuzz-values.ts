/** A JSON Schema as data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

export type Below = (bound: number) => number;

/**
 * Valid words of protocols, where a schema cannot express them: most requests should get past the
 * parser.
 */
const words: Readonly<Record<string, readonly string[]>> = {
  query: ['up', 'count(up)', '{job=~".+"}', 'sum(rate({job="a"}[1m]))', '{}', ')('],
  q: ['{}', 'a', '{ status = error }', '"'],
  match: ['up', '{job="a"}', '['],
  expr: ['up > 0', 'up ==', 'count(up)'],
  start: ['0', '1700000000', 'now', '2026-01-01T00:00:00Z'],
  end: ['1700000600', '1800000000', '', '2026-01-01T01:00:00Z'],
  step: ['15', '1m', '0', '-1'],
  time: ['1700000000', 'x'],
  email: ['a@example.org', 'b@example.org'],
  timezone: ['UTC', 'Europe/Berlin', 'Nowhere/At_All'],
};

const odd: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'ä€😀',
  '\u0000',
  [],
  {},
  [[]],
  'a'.repeat(3_000),
  '../../etc/passwd',
  '9007199254740993',
  { a: 1 },
];

const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-01T00:00:00Z', '2026-11-26T10:00:00.5+02:00'],
  date: ['2026-01-01'],
  uuid: ['0e37df36-f698-11e6-8dd4-cb9ced3df976'],
  email: words.email!,
  uri: ['https://example.org/a', 'http://127.0.0.1:9/x'],
  ip: ['192.0.2.1', '::1'],
  ipv4: ['192.0.2.1'],
  ipv6: ['::1'],
  duration: ['30s', '5m', '1h30m'],
};

/** Values that fit a schema, and, where `sound` is false, now and then one that does not. */
export class Values {
  readonly #below: Below;
  #sound = true;

  constructor(below: Below) {
    this.#below = below;
  }

  sound(schema: Schema, name = ''): unknown {
    this.#sound = true;
    return this.#of(schema, name, 0);
  }

  twisted(schema: Schema, name = ''): unknown {
    this.#sound = false;
    return this.#of(schema, name, 0);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!;
  }

  #of(schema: Schema, name: string, depth: number): unknown {
    if (!this.#sound && this.#below(8) === 0) {
      return this.pick(odd);
    }
    if ('const' in schema) {
      return schema.const;
    }
    if (Array.isArray(schema.enum)) {
      return this.pick(schema.enum as unknown[]);
    }
    const branches = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
    if (branches !== undefined) {
      return this.#of(this.pick(branches), name, depth);
    }
    if (Array.isArray(schema.allOf)) {
      return Object.assign(
        {},
        ...(schema.allOf as Schema[]).map((part) => this.#of(part, name, depth)),
      );
    }
    switch ([schema.type].flat()[0]) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, name, depth);
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return this.#below(2) === 1;
      case 'null':
        return null;
      case 'string':
        return this.#string(schema, name);
      default:
        return this.#sound ? this.#string(schema, name) : this.pick(odd);
    }
  }

  #object(schema: Schema, depth: number): unknown {
    const required = (schema.required ?? []) as readonly string[];
    const made: Record<string, unknown> = {};
    for (const [name, shape] of Object.entries(
      (schema.properties ?? {}) as Record<string, Schema>,
    )) {
      const wanted = required.includes(name)
        ? this.#sound || this.#below(12) > 0
        : depth < 4 && this.#below(2) === 0;
      if (wanted) {
        made[name] = this.#of(shape, name, depth + 1);
      }
    }
    if (!this.#sound && this.#below(12) === 0) {
      made['not_a_field'] = 1;
    }
    return made;
  }

  #array(schema: Schema, name: string, depth: number): unknown {
    if (Array.isArray(schema.prefixItems)) {
      return (schema.prefixItems as Schema[]).map((item) => this.#of(item, name, depth + 1));
    }
    const least = Number(schema.minItems ?? 0);
    const length =
      depth > 4 ? least : Math.min(Number(schema.maxItems ?? 3), least + this.#below(3));
    return Array.from({ length }, () => this.#of((schema.items ?? {}) as Schema, name, depth + 1));
  }

  #number(schema: Schema): number {
    const least = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0);
    const most = Number(schema.maximum ?? least + 50);
    const value = least + this.#below(Math.max(1, Math.min(1_000, Math.floor(most - least) + 1)));
    return schema.exclusiveMinimum === value ? value + 1 : value;
  }

  #string(schema: Schema, name: string): string {
    const format = formats[String(schema.format)];
    if (format !== undefined) {
      return this.pick(format);
    }
    const known = words[name.replace('[]', '')];
    const text =
      known !== undefined && this.#below(3) > 0
        ? this.pick(known)
        : `${this.pick(['a', 'x-1', 'job', 'web'])}${this.#below(1_000)}`;
    return text
      .padEnd(Number(schema.minLength ?? 0), 'x')
      .slice(0, Number(schema.maxLength ?? 4_000));
  }
}
