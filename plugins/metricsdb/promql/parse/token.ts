import { quoted } from './go-text.ts';

/** Kind of a token, by which errors name it. */
export type TokenKind =
  | 'end'
  | 'broken'
  | 'identifier'
  | 'metric'
  | 'string'
  | 'number'
  | 'duration'
  | 'keyword'
  | 'preprocessor'
  | 'aggregator'
  | 'operator'
  | 'mark';

export interface Token {
  readonly kind: TokenKind;
  /** Text as written; the reason if the token is broken. */
  readonly text: string;
  /** Normalized spelling of keywords, operators and marks; otherwise as written. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export const aggregators: ReadonlySet<string> = new Set(
  'sum avg count min max group stddev stdvar topk bottomk count_values quantile limitk limit_ratio'.split(
    ' ',
  ),
);

/** Aggregations whose first argument is a number or a text. */
export const parametrised: ReadonlySet<string> = new Set([
  'topk',
  'bottomk',
  'count_values',
  'quantile',
  'limitk',
  'limit_ratio',
]);

export const wordOperators: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'atan2']);

export const keywords: ReadonlySet<string> = new Set(
  'offset smoothed anchored by without on ignoring group_left group_right fill fill_left fill_right bool'.split(
    ' ',
  ),
);

/** Functions and names in an expression, and durations of the query between brackets. */
export const preprocessors: ReadonlySet<string> = new Set([
  'start',
  'end',
  'step',
  'range',
  'max_of',
  'min_of',
]);

/** Words that cannot name a metric without braces. */
export const neverMetrics: ReadonlySet<string> = new Set([
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'bool',
  'atan2',
]);

export const setOperators: ReadonlySet<string> = new Set(['and', 'or', 'unless']);
export const comparisonOperators: ReadonlySet<string> = new Set(['==', '!=', '<=', '<', '>=', '>']);

/** Cuts native histograms at a number. */
export const isTrim = (op: string): boolean => op === '</' || op === '>/';

export function describe(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'end of input';
    case 'identifier':
      return `identifier ${quoted(token.text)}`;
    case 'metric':
      return `metric identifier ${quoted(token.text)}`;
    case 'string':
    case 'number':
    case 'duration':
      return `${token.kind} ${Array.from(token.text).length > 10 ? `${quoted(Array.from(token.text).slice(0, 10).join(''))}...` : quoted(token.text)}`;
    case 'keyword':
      return `<${token.word}>`;
    case 'aggregator':
      return `<aggr:${token.word}>`;
    case 'operator':
      return `<op:${token.word}>`;
    case 'preprocessor':
    case 'mark':
      return quoted(token.text);
    case 'broken':
      return 'error';
  }
}
