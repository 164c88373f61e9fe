import { formatGoFloat } from './float-format.ts';
import { quote } from './quoting.ts';
import { display, typeName } from './values.ts';

const verb = /%([+\-# 0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([^]|$)/gu;
/** Wider than this is a mistake, or an attack. */
const widest = 10_000;

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
}

/** Implements Go's fmt.Sprintf for the values of a template. `room` bounds the result. */
export function sprintf(format: string, args: readonly unknown[], room: number): string {
  let out = '';
  let from = 0;
  let used = 0;
  const add = (text: string): void => {
    out += text;
    if (out.length > room) {
      throw new Error(`the text grows past ${room} characters`);
    }
  };
  for (const match of format.matchAll(verb)) {
    const [all, flagText, widthText, precisionText, letter] = match as unknown as [
      string,
      string,
      string | undefined,
      string | undefined,
      string,
    ];
    add(format.slice(from, match.index));
    from = match.index + all.length;
    const pointed =
      all.includes('.') && letter !== '.' ? true : all.slice(0, -letter.length).includes('.');
    const width = measure(widthText, () => args[used++]);
    const precision = pointed ? measure(precisionText ?? '0', () => args[used++]) : undefined;
    if (letter === '%') {
      add('%');
    } else if (letter === '') {
      add('%!(NOVERB)');
    } else if ((width ?? 0) > widest || (precision ?? 0) > widest) {
      used += 1;
      add((width ?? 0) > widest ? '%!(BADWIDTH)' : '%!(BADPREC)');
    } else if (used >= args.length) {
      add(`%!${letter}(MISSING)`);
    } else {
      const flags: Flags = {
        plus: flagText.includes('+'),
        minus: flagText.includes('-') || (width ?? 0) < 0,
        sharp: flagText.includes('#'),
        space: flagText.includes(' '),
        zero: flagText.includes('0') && !flagText.includes('-'),
      };
      add(
        one(
          args[used++],
          letter,
          flags,
          width === undefined ? undefined : Math.abs(width),
          precision,
        ),
      );
    }
  }
  add(format.slice(from));
  if (used < args.length) {
    add(
      `%!(EXTRA ${args
        .slice(used)
        .map((value) => `${typeName(value)}=${display(value)}`)
        .join(', ')})`,
    );
  }
  return out;
}

function measure(text: string | undefined, argument: () => unknown): number | undefined {
  if (text !== '*') {
    return text === undefined ? undefined : Number(text);
  }
  const value = argument();
  return typeof value === 'bigint' ? Number(value) : widest + 1;
}

function one(
  value: unknown,
  letter: string,
  flags: Flags,
  width: number | undefined,
  precision: number | undefined,
): string {
  if (letter === 'T') {
    return pad(typeName(value), flags, width, false);
  }
  const text = formatted(value, letter, flags, precision);
  if (text === undefined) {
    return `%!${letter}(${value === null || value === undefined ? '<nil>' : `${typeName(value)}=${display(value)}`})`;
  }
  const numeric = typeof value === 'number' || typeof value === 'bigint';
  return pad(
    text,
    flags,
    width,
    numeric &&
      flags.zero &&
      !(typeof value === 'bigint' && precision !== undefined) &&
      Number.isFinite(Number(value)),
  );
}

/** Undefined when the verb does not fit the value. */
function formatted(
  value: unknown,
  letter: string,
  flags: Flags,
  precision: number | undefined,
): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'undefined':
      return textual(value ?? '', letter, flags, precision);
    case 'bigint':
      return integral(value, letter, flags, precision);
    case 'number':
      return floating(value, letter, flags, precision);
    case 'boolean':
      return letter === 't' || letter === 'v' ? String(value) : undefined;
    default:
      return letter === 'v' || (letter === 's' && value !== null) ? display(value) : undefined;
  }
}

function textual(
  value: string,
  letter: string,
  flags: Flags,
  precision: number | undefined,
): string | undefined {
  const text = precision === undefined ? value : Array.from(value).slice(0, precision).join('');
  switch (letter) {
    case 's':
      return text;
    case 'v':
      return flags.sharp ? quote(text) : text;
    case 'q':
      return flags.sharp && !text.includes('`') ? `\`${text}\`` : quote(text);
    case 'x':
    case 'X': {
      const hex = Buffer.from(text).toString('hex');
      return letter === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      return undefined;
  }
}

const bases: ReadonlyMap<string, number> = new Map([
  ['d', 10],
  ['v', 10],
  ['b', 2],
  ['o', 8],
  ['O', 8],
  ['x', 16],
  ['X', 16],
]);

function integral(
  value: bigint,
  letter: string,
  flags: Flags,
  precision: number | undefined,
): string | undefined {
  const base = bases.get(letter);
  if (base === undefined) {
    const point = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
    const char = String.fromCodePoint(point);
    return letter === 'c'
      ? char
      : letter === 'q'
        ? `'${char}'`
        : letter === 'U'
          ? `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
          : undefined;
  }
  const size = (value < 0n ? -value : value).toString(base).padStart(precision ?? 0, '0');
  const prefix =
    letter === 'O' || (flags.sharp && letter === 'o')
      ? letter === 'O'
        ? '0o'
        : '0'
      : flags.sharp && base === 16
        ? '0x'
        : flags.sharp && base === 2
          ? '0b'
          : '';
  const text = signOf(value < 0n, flags) + prefix + size;
  return letter === 'X' ? text.toUpperCase() : text;
}

function floating(
  value: number,
  letter: string,
  flags: Flags,
  precision: number | undefined,
): string | undefined {
  const form = letter.toLowerCase();
  if (!(form === 'e' || form === 'f' || form === 'g') && letter !== 'v') {
    return undefined;
  }
  const text =
    form === 'e' || form === 'f'
      ? formatGoFloat(value, form, precision ?? 6)
      : formatGoFloat(value, 'g', precision ?? -1);
  const negative = text.startsWith('-');
  const unsigned = text.replace(/^[+-]/, '');
  const signed =
    signOf(
      negative,
      Number.isNaN(value)
        ? { ...flags, plus: false }
        : unsigned === 'Inf' && letter === 'v'
          ? { ...flags, plus: true }
          : flags,
    ) + unsigned;
  return letter === 'E' || letter === 'G' ? signed.replace('e', 'E') : signed;
}

function signOf(negative: boolean, flags: Flags): string {
  return negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
}

function pad(text: string, flags: Flags, width: number | undefined, zeros: boolean): string {
  const missing = (width ?? 0) - Array.from(text).length;
  if (missing <= 0) {
    return text;
  }
  if (flags.minus) {
    return text + ' '.repeat(missing);
  }
  if (!zeros) {
    return ' '.repeat(missing) + text;
  }
  const signed = /^[+\- ]/.test(text);
  return (signed ? text[0]! : '') + '0'.repeat(missing) + (signed ? text.slice(1) : text);
}
