import type { Enforced } from 'svc/contracts/metricsdb';
import { type Matcher, matcher, queryError } from 'svc/query';
import { isSvcError } from 'svc/sdk';

import { isLabelName, parse } from '../promql/index.ts';
import { within } from './parameters.ts';

const emptyMatchers = /: parse error: vector selector must contain at least one non-empty matcher$/;

/** The matchers of a `match[]`. */
export function seriesMatchers(text: string): readonly Matcher[] {
  return within('match[]', () => {
    try {
      const expr = parse(text);
      if (expr.node !== 'selector' || expr.offset !== 0 || expr.at !== undefined) {
        throw queryError(
          'bad_data',
          '1:1: parse error: a series selector such as up{job="node"} is expected',
        );
      }
      return expr.matchers;
    } catch (error) {
      if (isSvcError(error) && emptyMatchers.test(error.message)) {
        throw queryError('bad_data', 'match[] must contain at least one non-empty matcher');
      }
      throw error;
    }
  });
}

/** Returns the matchers that restrict a query to what the caller may see. */
export const enforced = (list: readonly Enforced[] = []): readonly Matcher[] =>
  list.map(({ name, op, value }) => matcher(name, op, value));

/**
 * Returns one set of matchers per selector, each with the enforced ones; without selectors those
 * alone.
 */
export function matcherSets(
  selectors: readonly string[],
  also: readonly Matcher[] = [],
): (readonly Matcher[])[] {
  const sets = selectors.map((text) => [...seriesMatchers(text), ...also]);
  return sets.length === 0 && also.length > 0 ? [also] : sets;
}

const anyEscaped = /^U__/;

/** Names outside the usual letters come escaped, as clients write them into paths. */
export function labelName(text: string): string {
  if (anyEscaped.test(text)) {
    return unescaped(text) ?? refuseName(text);
  }
  return isLabelName(text) ? text : refuseName(text);
}

function refuseName(text: string): never {
  throw queryError('bad_data', `invalid label name: ${JSON.stringify(text.slice(0, 200))}`);
}

/** `U__http_2e_method` is `http.method`: a code point in hexadecimal between underscores, and two of them for one. */
function unescaped(text: string): string | undefined {
  let broken = false;
  const name = text
    .slice(3)
    .replace(/__|_([0-9a-fA-F]{1,6})_|_/g, (found, code: string | undefined) => {
      const point = code === undefined ? undefined : Number.parseInt(code, 16);
      if (found === '__') {
        return '_';
      }
      broken ||= point === undefined || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff);
      return broken ? '' : String.fromCodePoint(point!);
    });
  return broken || name === '' ? undefined : name;
}
