import { escapedFor, escapedForRegex, stretchesOf } from './query-text.ts';

/** Value of a name in a query. */
export type Binding =
  /** Number or duration: allowed anywhere. */
  | { readonly kind: 'plain'; readonly text: string }
  /**
   * Texts that a user may have typed: only inside a literal, and escaped. `regex` represents all of
   * them if given.
   */
  | { readonly kind: 'texts'; readonly values: readonly string[]; readonly regex?: string }
  /** Texts that the author of the dashboard wrote, as part of the queries: allowed anywhere. */
  | { readonly kind: 'words'; readonly values: readonly string[]; readonly regex?: string };

export type Bindings = ReadonlyMap<string, Binding>;

/** Error for a variable that is not allowed where it is. */
export class InsertionError extends Error {
  readonly variable: string;

  constructor(variable: string, message: string) {
    super(`the variable ${variable} ${message}`);
    this.variable = variable;
  }
}

const reference =
  /\$\{([A-Za-z_]\w*)(?:\.[\w.]+)?(?::(\w+))?\}|\$([A-Za-z_]\w*)|\[\[([A-Za-z_]\w*)(?::(\w+))?\]\]/g;
const plain = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$|^(?:\d+(?:ms|[smhdwy]))+$/;
const operator = /(=~|!~|\|~|\|=|!=|==|=)\s*$/;
/** Stages of a log query whose texts are programs: templates, paths, patterns. */
const programs: ReadonlySet<string | undefined> = new Set([
  'label_format',
  'line_format',
  'json',
  'logfmt',
  'regexp',
  'pattern',
]);

/** Returns a text for people, such as a title, with the values of the names in it. */
export const inWords = (text: string, bindings: Bindings): string =>
  text.replaceAll(reference, (whole, ...groups: string[]) => {
    const binding = bindings.get(nameOf(groups)!);
    return binding === undefined
      ? whole
      : binding.kind === 'plain'
        ? binding.text
        : binding.values.join(' + ');
  });

/** Names that a query refers to, known or not. */
export function namesIn(query: string): ReadonlySet<string> {
  return new Set([...query.matchAll(reference)].map((match) => nameOf(match.slice(1))!));
}

/**
 * Returns the query with every known name replaced. A value can change neither the structure of the
 * query nor the meaning of a pattern; if that cannot be ensured, it is refused. Unknown names stay
 * unchanged.
 */
export function insert(query: string, bindings: Bindings): string {
  let compared: string | undefined;
  let stage: string | undefined;
  const parts: string[] = [];
  for (const { kind, text, open } of stretchesOf(query)) {
    if (kind === 'code') {
      stage = stageAfter(text, stage);
      compared = programs.has(stage)
        ? undefined
        : (operator.exec(text)?.[1] ?? (/^\s*or\s*$/.test(text) ? compared : undefined));
      parts.push(
        text.replaceAll(reference, (whole, ...groups: string[]) => inCode(whole, groups, bindings)),
      );
    } else if (kind === 'comment') {
      parts.push(text);
    } else {
      const pattern = patternFor(compared);
      const isPattern = pattern !== undefined && comparesMany(text, bindings);
      if (isPattern) {
        parts.push(parts.pop()!.replace(operator, (found) => found.replace(compared!, pattern)));
      }
      const place = { compared: isPattern ? pattern : compared, open: open === true };
      parts.push(inLiteral(isPattern ? asPattern(text) : text, place, bindings));
    }
  }
  return parts.join('');
}

const patterns: Readonly<Record<string, string>> = {
  '=': '=~',
  '==': '=~',
  '!=': '!~',
  '|=': '|~',
};

/** Returns the operator that compares with a pattern where this one compares with a text. */
const patternFor = (compared: string | undefined): string | undefined =>
  compared === undefined ? undefined : patterns[compared];

/** Whether a literal has a name that stands for several values, which equal none of them. */
const comparesMany = (literal: string, bindings: Bindings): boolean =>
  [...literal.matchAll(reference)].some((match) => {
    const binding = bindings.get(nameOf(match.slice(1))!);
    return (
      binding !== undefined &&
      binding.kind !== 'plain' &&
      (binding.regex !== undefined || binding.values.length > 1)
    );
  });

/** Returns a literal as a pattern that matches its text, names left as they are. */
function asPattern(literal: string): string {
  const quote = literal[0]!;
  const raw = quote === '`';
  let from = 1;
  let out = '';
  const fixed = (text: string): string =>
    raw
      ? escapedForRegex(text)
      : // What an escape stands for needs none in a pattern, except a backslash.
        text.replaceAll(/\\\\|\\.|[!-/:-@[-^`{-~]/g, (found) =>
          found === '\\\\' ? '\\\\\\\\' : found.length === 2 ? found : `\\\\${found}`,
        );
  for (const match of literal.matchAll(reference)) {
    out += fixed(literal.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return `${quote}${out}${fixed(literal.slice(from, -1))}${quote}`;
}

/** Returns the stage of a log query that is open after this code; a selector opens none. */
function stageAfter(code: string, before: string | undefined): string | undefined {
  const last = Math.max(code.lastIndexOf('|'), code.lastIndexOf('{'));
  return last < 0 ? before : /^\|\s*([a-z_]+)/.exec(code.slice(last))?.[1];
}

function inCode(
  whole: string,
  groups: readonly (string | undefined)[],
  bindings: Bindings,
): string {
  const name = nameOf(groups)!;
  const binding = bindings.get(name);
  if (binding === undefined) {
    return whole;
  }
  if (binding.kind === 'plain') {
    return checked(binding.text, name, plain);
  }
  const isList = (groups[1] ?? groups[4]) === 'csv';
  if (binding.values.length !== 1 && !isList) {
    throw new InsertionError(name, outside);
  }
  const { values } = binding;
  return binding.kind === 'words'
    ? values.join(',')
    : values.map((value) => checked(value, name, plain)).join(',');
}

const outside = 'is outside quotes, where only a number or a duration can be';

function checked(text: string, name: string, form: RegExp): string {
  if (!form.test(text)) {
    throw new InsertionError(name, outside);
  }
  return text;
}

interface Place {
  /** Left side that the literal is compared with. */
  readonly compared: string | undefined;
  readonly open: boolean;
}

function inLiteral(literal: string, { compared, open }: Place, bindings: Bindings): string {
  const quote = literal[0]!;
  let used = false;
  const raw = quote === '`';
  const content = literal.slice(1, open ? undefined : -1);
  const filled = content.replaceAll(reference, (whole, ...rest: unknown[]) => {
    const groups = rest.slice(0, 5) as (string | undefined)[];
    const name = nameOf(groups)!;
    const binding = bindings.get(name);
    if (binding === undefined) {
      return whole;
    }
    if (open) {
      throw new InsertionError(name, 'is in quotes that do not end');
    }
    if (content[(rest[5] as number) - 1] === '\\') {
      throw new InsertionError(name, 'is after a backslash, which would change what is inserted');
    }
    used = true;
    const text = comparable(name, binding, compared, groups[1] ?? groups[4]);
    return raw ? text : escapedFor(quote as '"' | "'", text);
  });
  // Inside of backticks nothing can be escaped.
  return used && raw ? `"${escapedFor('"', filled)}"` : used ? quote + filled + quote : literal;
}

/** Formats that say no more than what is done anyway: a value is compared as it is. */
const formats: ReadonlySet<string> = new Set(['regex', 'pipe', 'raw', 'text', 'csv', 'glob']);

/**
 * Returns the text of a literal such that comparing with it compares with the value of the name.
 */
function comparable(
  name: string,
  binding: Binding,
  compared: string | undefined,
  format: string | undefined,
): string {
  const isPattern = compared?.endsWith('~') === true;
  if (compared === undefined) {
    throw new InsertionError(
      name,
      'is in a text that is not compared; use it in the value of a matcher',
    );
  }
  if (format !== undefined && !formats.has(format)) {
    throw new InsertionError(
      name,
      `is to be written as ${format}; only ${[...formats].join(', ')} are known`,
    );
  }
  if (binding.kind === 'plain') {
    return isPattern ? escapedForRegex(binding.text) : binding.text;
  }
  if (isPattern) {
    const [first = ''] = binding.values;
    return (
      binding.regex ??
      (binding.values.length === 1
        ? escapedForRegex(first)
        : `(?:${binding.values.map(escapedForRegex).join('|')})`)
    );
  }
  if (binding.regex !== undefined || binding.values.length !== 1) {
    throw new InsertionError(
      name,
      `has several values, and ${compared} compares with one; write ${compared === '=' || compared === '==' ? '=~' : '!~ or |~'}`,
    );
  }
  return binding.values[0]!;
}

const nameOf = (groups: readonly (string | undefined)[]): string | undefined =>
  groups[0] ?? groups[2] ?? groups[3];
