import { type Matcher, matcher } from 'svc/query';

import type { MatcherText } from './ast.ts';
import { parseError } from './parse-error.ts';
import { messageOf } from 'svc/sdk';

export function matchersOf(texts: readonly MatcherText[]): readonly Matcher[] {
  return texts.map(({ name, op, value }) => {
    try {
      return matcher(name, op, value);
    } catch (error) {
      throw parseError(messageOf(error));
    }
  });
}
