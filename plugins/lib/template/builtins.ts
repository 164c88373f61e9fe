import { type TemplateFunction, templateFunction } from './functions.ts';
import { sprintf } from './printf.ts';
import { escapedHtml } from './quoting.ts';
import { display, fieldOf, isRecord, isTrue, typeName } from './values.ts';

/**
 * Functions available to every template. `and` and `or` are in render.ts, because they do not
 * evaluate all their arguments.
 */
export const builtins: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['and', templateFunction(1, Infinity, (args) => args.at(-1))],
  ['or', templateFunction(1, Infinity, (args) => args.at(-1))],
  ['not', templateFunction(1, 1, ([value]) => !isTrue(value))],
  [
    'eq',
    templateFunction(2, Infinity, ([first, ...others]) =>
      others.some((other) => same(first, other)),
    ),
  ],
  ['ne', templateFunction(2, 2, ([a, b]) => !same(a, b))],
  ['lt', templateFunction(2, 2, ([a, b]) => order(a, b) < 0)],
  ['le', templateFunction(2, 2, ([a, b]) => order(a, b) <= 0)],
  ['gt', templateFunction(2, 2, ([a, b]) => order(a, b) > 0)],
  ['ge', templateFunction(2, 2, ([a, b]) => order(a, b) >= 0)],
  ['len', templateFunction(1, 1, ([value]) => BigInt(size(value)))],
  ['index', templateFunction(1, Infinity, ([value, ...keys]) => keys.reduce(element, value))],
  ['slice', templateFunction(1, 3, ([value, from, to]) => slice(value, from, to))],
  ['print', templateFunction(0, Infinity, (args) => printed(args))],
  [
    'println',
    templateFunction(0, Infinity, (args) => `${args.map((value) => display(value)).join(' ')}\n`),
  ],
  [
    'printf',
    templateFunction(1, Infinity, ([format, ...args], room) => sprintf(textOf(format), args, room)),
  ],
  ['html', templateFunction(0, Infinity, (args) => escapedHtml(printed(args)))],
  [
    'js',
    templateFunction(0, Infinity, (args) =>
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      printed(args).replace(/[\\'"<>&=\x00-\x1f\u2028\u2029]/g, jsEscape),
    ),
  ],
  ['urlquery', templateFunction(0, Infinity, (args) => urlQuery(printed(args)))],
]);

function jsEscape(char: string): string {
  return char === '\\' || char === "'" || char === '"'
    ? `\\${char}`
    : `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Escapes a text for a query string: a space becomes a plus, and everything except letters, digits
 * and `-_.~` is escaped.
 */
function urlQuery(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Prints values, with a space between two that are not texts. */
function printed(args: readonly unknown[]): string {
  return args
    .map(
      (value, i) =>
        (i > 0 && typeof value !== 'string' && typeof args[i - 1] !== 'string' ? ' ' : '') +
        display(value),
    )
    .join('');
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') {
    throw new Error(`wrong type for value; expected string; got ${typeName(value)}`);
  }
  return value;
}

/** Converts a value for comparison; a missing key counts as the empty text. */
function basic(value: unknown): string | number | bigint | boolean | null {
  if (value === undefined) {
    return '';
  }
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean'
  ) {
    return value;
  }
  throw new Error(`non-comparable type ${typeName(value)}`);
}

const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

function same(left: unknown, right: unknown): boolean {
  const a = basic(left);
  const b = basic(right);
  if (a === null || b === null) {
    return a === b;
  }
  if (typeof a !== typeof b && !(isNumeric(a) && isNumeric(b))) {
    throw new Error('incompatible types for comparison');
  }
  // eslint-disable-next-line eqeqeq -- compares an int with a float by value
  return a == b;
}

/** Compares two values; NaN is neither less nor greater: both comparisons are false. */
function order(left: unknown, right: unknown): number {
  const a = basic(left);
  const b = basic(right);
  const comparable =
    (isNumeric(a) && isNumeric(b)) || (typeof a === 'string' && typeof b === 'string');
  if (!comparable) {
    throw new Error(
      typeof a === typeof b ? 'invalid type for comparison' : 'incompatible types for comparison',
    );
  }
  return a < b ? -1 : a > b ? 1 : a === b || isNumeric(a) === isNumeric(b) ? equalOrNaN(a, b) : 0;
}

function equalOrNaN(a: unknown, b: unknown): number {
  return Number.isNaN(a) || Number.isNaN(b) ? NaN : 0;
}

function size(value: unknown): number {
  if (value === undefined) {
    return 0;
  }
  if (typeof value === 'string') {
    return Buffer.byteLength(value);
  }
  if (Array.isArray(value)) {
    return value.length;
  }
  if (isRecord(value)) {
    return value instanceof Map ? value.size : Object.keys(value).length;
  }
  throw new Error(`len of type ${typeName(value)}`);
}

function element(value: unknown, key: unknown): unknown {
  if (isRecord(value)) {
    return fieldOf(value, textOf(key));
  }
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return BigInt(bytes[position(key, bytes.length - 1)]!);
  }
  if (Array.isArray(value)) {
    return value[position(key, value.length - 1)] as unknown;
  }
  throw new Error(
    value === null || value === undefined
      ? 'index of untyped nil'
      : `can't index item of type ${typeName(value)}`,
  );
}

function position(key: unknown, last: number): number {
  if (typeof key !== 'bigint') {
    throw new Error(`cannot index slice/array with type ${typeName(key)}`);
  }
  if (key < 0n || key > BigInt(last)) {
    throw new Error(`index out of range: ${key}`);
  }
  return Number(key);
}

function slice(value: unknown, from: unknown, to: unknown): unknown {
  const whole = typeof value === 'string' ? Buffer.from(value) : value;
  if (!Array.isArray(whole) && !Buffer.isBuffer(whole)) {
    throw new Error(`can't slice item of type ${typeName(value)}`);
  }
  const end = to === undefined ? whole.length : position(to, whole.length);
  const start = from === undefined ? 0 : position(from, whole.length);
  if (start > end) {
    throw new Error(`invalid slice index: ${start} > ${end}`);
  }
  return Buffer.isBuffer(whole) ? whole.subarray(start, end).toString() : whole.slice(start, end);
}
