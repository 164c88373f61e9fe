import { isScalar, parseDocument, visit } from 'yaml';

import { assertBounded, type YamlBounds } from './bounds.ts';

export interface ForeignYamlOptions extends YamlBounds {
  /** Max values that aliases may add; default 50. */
  readonly aliases?: number;
  /** Returns mappings as Maps, whose keys keep their type. */
  readonly mapAsMap?: boolean;
  /** Resolves `<<`. */
  readonly merge?: boolean;
}

/**
 * Parses one YAML document of a stranger. Throws a SyntaxError with the position if it is invalid,
 * and a RangeError if it is larger or deeper than the parser can take.
 */
export function parseForeignYaml(
  text: string,
  { aliases = 50, mapAsMap = false, merge = false, ...bounds }: ForeignYamlOptions = {},
): unknown {
  assertBounded(text, bounds);
  // The parser's own check of keys, and its pretty errors, take time that grows with the square of the text.
  const document = parseDocument(text, {
    logLevel: 'silent',
    prettyErrors: false,
    uniqueKeys: false,
    customTags: [],
    merge,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    throw new SyntaxError(`${error.message}${placeIn(text, error.pos[0])}`);
  }
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (isScalar(key) && seen.size === seen.add(key.value).size) {
          throw new SyntaxError(`Map keys must be unique${placeIn(text, key.range?.[0] ?? 0)}`);
        }
      }
    },
  });
  return document.toJS({ mapAsMap, maxAliasCount: aliases });
}

function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}
