import { compileRegex, type Pattern } from './regex/regex.ts';

export type MatchOp = '=' | '!=' | '=~' | '!~';

/** One condition on one label. An absent label has the value ''. */
export interface Matcher {
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
  matches(value: string): boolean;
  /** Pattern of `=~` and `!~`: anchored at both ends. */
  readonly pattern?: Pattern;
}

export function matcher(name: string, op: MatchOp, value: string): Matcher {
  switch (op) {
    case '=':
      return { name, op, value, matches: (other) => other === value };
    case '!=':
      return { name, op, value, matches: (other) => other !== value };
    case '=~': {
      const pattern = compileRegex(value, { anchored: true, dotAll: true });
      return { name, op, value, pattern, matches: pattern.test };
    }
    case '!~': {
      const pattern = compileRegex(value, { anchored: true, dotAll: true });
      return { name, op, value, pattern, matches: (other) => !pattern.test(other) };
    }
    default:
      throw new TypeError(`there is no matcher ${String(op satisfies never)}`);
  }
}
