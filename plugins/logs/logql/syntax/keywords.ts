import { rangeOps, vectorOps } from './ast.ts';

/** Words that are no names anywhere; complaints say them as they are. */
const keywords: ReadonlySet<string> = new Set([
  ...['by', 'without', 'bool', 'offset', 'on', 'ignoring', 'group_left', 'group_right', 'or', 'and', 'unless', 'unwrap'],
  ...['json', 'regexp', 'logfmt', 'unpack', 'pattern', 'label_format', 'line_format', 'decolorize', 'drop', 'keep'],
]);

/** Words that are names unless they are called. */
const functions: ReadonlySet<string> = new Set([...rangeOps, ...vectorOps, 'vector', 'label_replace', 'ip', 'bytes', 'duration', 'duration_seconds']);

const called = /^\s*(?:\(|(?:by|without)\s*\()/i;

/** The word as the language knows it; undefined where it is a name. */
export function keywordOf(query: string, word: string, end: number): string | undefined {
  const lower = word.toLowerCase();
  return keywords.has(lower) || (functions.has(lower) && called.test(query.slice(end, end + 256))) ? lower : undefined;
}
