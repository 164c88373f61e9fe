import type { SvcError } from 'svc/sdk';
import { Composer, CST, Lexer, Parser } from 'yaml';

import { errors } from './errors.ts';

const maxValues = 1_000;
const maxDepth = 32;
const maxLexemes = 8_000;

/**
 * One mapping in a small, plain kind of YAML (1.2, core schema): no references, no tags, no directives, so that
 * a text is as large as it looks and dates stay texts. The result is frozen and safe to merge.
 */
export function parsePlainYaml(source: string): Readonly<Record<string, unknown>> {
  const tokens = [...tokensOf(source)];
  checkDepth(tokens);
  const [document, ...others] = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    stringKeys: true,
    logLevel: 'silent',
  }).compose(tokens);
  const error = document?.errors[0];
  if (error) {
    const reason =
      error.code === 'NON_STRING_KEY'
        ? 'every key must be a text; if a value begins with { or [, quote it'
        : error.message;
    throw errors.line({ line: lineAt(source, error.pos[0]), reason });
  }
  if (others.length > 0) {
    throw errors.one_document();
  }
  const value: unknown = document?.toJS() ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw errors.header_lines();
  }
  return adopted(value, { values: 0 }) as Readonly<Record<string, unknown>>;
}

const unwelcome: Partial<Record<CST.TokenType, string>> = {
  alias:
    'references (*name) are not supported; if the value is a text that begins with *, quote it',
  anchor: 'anchors (&name) are not supported; if the value is a text that begins with &, quote it',
  tag: 'tags (!name) are not supported; if the value is a text that begins with !, quote it',
  'directive-line': 'directives (%) are not accepted; remove the line',
  'doc-end': 'the header must be one YAML document; remove this line',
};

const valueTypes: ReadonlySet<CST.TokenType | null> = new Set<CST.TokenType>([
  'scalar',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'block-scalar-header',
  'flow-map-start',
  'flow-seq-start',
]);

/** Counts before it builds: the limits hold while the text is read, not after it has been blown up. */
function* tokensOf(source: string): Generator<CST.Token> {
  const parser = new Parser();
  let lexemes = 0;
  let values = 0;
  let isText = false;
  for (const lexeme of new Lexer().lex(source)) {
    // After its marker comes the text of a scalar, which may begin with any sign.
    const type = isText ? null : CST.tokenType(lexeme);
    isText = lexeme === CST.SCALAR;
    lexemes += 1;
    values += valueTypes.has(type) ? 1 : 0;
    if (lexemes > maxLexemes || values > maxValues) {
      throw tooLarge();
    }
    const reason = type === null ? undefined : unwelcome[type];
    if (reason !== undefined) {
      throw errors.line({ line: lineAt(source, parser.offset), reason });
    }
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

/**
 * Checks the depth before composing, which recurses: V8 aborts the process if a pattern is compiled
 * on a nearly full stack.
 */
function checkDepth(tokens: readonly CST.Token[]): void {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next;
    if (depth > maxDepth) {
      throw errors.too_deep({ maxDepth });
    }
    if (token.type === 'document' && token.value) {
      open.push({ token: token.value, depth });
    }
    for (const item of 'items' in token ? token.items : []) {
      for (const inner of [item.key, item.value]) {
        if (inner) {
          open.push({ token: inner, depth: depth + 1 });
        }
      }
    }
  }
}

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '<<']);

/** Returns a frozen copy that consists of JSON values only. */
function adopted(value: unknown, count: { values: number }): unknown {
  count.values += 1;
  if (count.values > maxValues) {
    throw tooLarge();
  }
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item) => adopted(item, count)));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.freeze(
      Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [accepted(key), adopted(inner, count)]),
      ),
    );
  }
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  ) {
    throw errors.inexact_number({ value });
  }
  return value;
}

function accepted(key: string): string {
  if (forbiddenKeys.has(key)) {
    throw errors.key({ key });
  }
  return key;
}

const tooLarge = (): SvcError => errors.too_many_values({ maxValues });

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
