import { stretchesOf } from './query-text.ts';

/** Words of PromQL that are no metric, where no bracket follows them either. */
const words = new Set('and or unless atan2 bool by without on ignoring group_left group_right offset start end inf nan step'.split(' '));
const most = 8;

/** Names of the metrics that a PromQL query reads, as far as they are written out. Good enough to explain; nothing is decided by it. */
export function metricNames(query: string): readonly string[] {
  const found = new Set<string>();
  let braces = 0;
  let listed = 0;
  let named = false;
  for (const { kind, text } of stretchesOf(query)) {
    if (kind === 'literal' && named) {
      text
        .slice(1, -1)
        .split('|')
        .forEach((name) => add(found, name));
    }
    if (kind !== 'code') {
      continue;
    }
    named = false;
    for (const { 0: token, index } of text.matchAll(/[A-Za-z_:][A-Za-z0-9_:]*(?:\s*\()?|\d[\w.]*|=~|![=~]|[{}()=[\]]/g)) {
      const name = /^[A-Za-z_:][A-Za-z0-9_:]*/.exec(token)?.[0];
      if (token === '{' || token === '}') {
        braces += token === '{' ? 1 : -1;
      } else if (token === ')') {
        listed = Math.max(0, listed - 1);
      } else if (token === '(') {
        listed += listed > 0 ? 1 : 0;
      } else if (braces > 0) {
        named = name === '__name__' || (named && (token === '=' || token === '=~'));
      } else if (name !== undefined && token.endsWith('(')) {
        const isList = /^(?:by|without|on|ignoring|group_left|group_right)$/i.test(name);
        listed += listed > 0 || isList ? 1 : 0;
      } else if (name !== undefined && listed === 0 && !aggregates(text, index + token.length) && !words.has(name.toLowerCase())) {
        add(found, name);
      }
    }
  }
  return [...found];
}

/** As `sum` in `sum by (job) (up)`. */
const aggregates = (code: string, end: number): boolean => /^\s+(?:by|without)\s*\(/i.test(code.slice(end, end + 40));

function add(found: Set<string>, name: string): void {
  if (found.size < most && /^[A-Za-z_:][A-Za-z0-9_:]*$/.test(name)) {
    found.add(name);
  }
}
