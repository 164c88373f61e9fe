import { formatGoFloat } from './float-format.ts';

/**
 * The values of a template: null and undefined (nil and "no such key"), booleans, strings, numbers (Go's float64), bigints (Go's int),
 * arrays, Maps, plain objects, and opaque values that know how to show themselves.
 */
export const shownAs: unique symbol = Symbol.for('svc.template.shownAs');

export interface Opaque {
  [shownAs](): string;
}

export function isOpaque(value: unknown): value is Opaque {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Opaque>)[shownAs] === 'function'
  );
}

/** A Map, or an object without a class of its own. */
export function isRecord(
  value: unknown,
): value is Map<unknown, unknown> | Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const kind: unknown = Object.getPrototypeOf(value);
  return value instanceof Map || kind === null || kind === Object.prototype;
}

/** Returns the record's own value under the name; never an inherited one, and never a function. */
export function fieldOf(
  record: Map<unknown, unknown> | Readonly<Record<string, unknown>>,
  name: string,
): unknown {
  const value =
    record instanceof Map
      ? record.get(name)
      : Object.hasOwn(record, name)
        ? record[name]
        : undefined;
  return typeof value === 'function' ? undefined : value;
}

/** Returns the entries sorted by key, as Go prints and ranges over maps. */
export function sortedEntries(
  record: Map<unknown, unknown> | Readonly<Record<string, unknown>>,
): [string, unknown][] {
  const entries =
    record instanceof Map
      ? [...record].map(([key, value]): [string, unknown] => [String(key), value])
      : Object.entries(record);
  return entries
    .filter(([, value]) => typeof value !== 'function')
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) {
    return value.length > 0;
  }
  if (isRecord(value)) {
    return value instanceof Map ? value.size > 0 : Object.keys(value).length > 0;
  }
  return Boolean(value);
}

export function typeName(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return '<nil>';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return value === null
        ? '<nil>'
        : Array.isArray(value)
          ? '[]interface {}'
          : isRecord(value)
            ? 'map[string]interface {}'
            : 'object';
  }
}

/** The deepest nesting that is printed; deeper data is cut rather than followed. */
const deepest = 16;

/** Formats a value as Go's `%v` does; a missing key is the empty text. */
export function display(value: unknown, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatGoFloat(value, 'g');
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return '';
    default:
      return value === null ? '<nil>' : compound(value, depth);
  }
}

function compound(value: unknown, depth: number): string {
  if (depth >= deepest) {
    return '…';
  }
  if (Array.isArray(value)) {
    return `[${value.map((item: unknown) => display(item, depth + 1)).join(' ')}]`;
  }
  if (isOpaque(value)) {
    return value[shownAs]();
  }
  return isRecord(value)
    ? `map[${sortedEntries(value)
        .map(([key, item]) => `${key}:${display(item, depth + 1)}`)
        .join(' ')}]`
    : '<nil>';
}
