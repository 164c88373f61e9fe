import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';

import { errors } from './errors.ts';

/** Value in the file, with the name and line of its key for whoever has to correct it. */
export interface Entry {
  /** Keys that lead to it, such as `skills.paths`; `the file` for all of it. */
  readonly name: string;
  readonly line: number;
  readonly value: unknown;
  /** Returns the value of a key; without a value if the key is omitted. */
  at(key: string): Entry;
}

/** Parses the text of the file; throws an error with the line if it is not valid YAML. */
export function parsePolicy(text: string): Entry {
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: 'core', lineCounter: lines, prettyErrors: false });
  const [wrong] = document.errors;
  if (wrong) {
    throw errors.policy_syntax({ line: lines.linePos(wrong.pos[0]).line, cause: wrong.message });
  }
  const lineOf = (offset: number | undefined): number =>
    offset === undefined ? 1 : lines.linePos(offset).line;
  const entry = (name: string, line: number, node: unknown, value: unknown): Entry => ({
    name,
    line,
    value,
    at(key) {
      const pair = isMap(node)
        ? node.items.find(({ key: one }) => isScalar(one) && String(one.value) === key)
        : undefined;
      const path = name === whole ? key : `${name}.${key}`;
      const inner =
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Readonly<Record<string, unknown>>)[key]
          : undefined;
      return pair && isScalar(pair.key)
        ? entry(path, lineOf(pair.key.range?.[0]), pair.value, inner)
        : entry(path, line, undefined, inner);
    },
  });
  const root = document.contents;
  return entry(whole, lineOf(root?.range?.[0]), root, valueOf(document));
}

const whole = 'the file';

function valueOf(document: { toJS(options: { maxAliasCount: number }): unknown }): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw errors.policy_alias({ cause: error });
  }
}
