import { RE2JS } from 're2js';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';

export interface MatcherText {
  readonly name: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** One condition on one label of an incident; an absent label has the value ''. */
export interface LabelMatcher extends MatcherText {
  readonly matches: (value: string) => boolean;
}

export function labelMatcher({ name, op, value }: MatcherText): LabelMatcher {
  return { name, op, value, matches: testOf(name, op, value) };
}

function testOf(name: string, op: MatcherText['op'], value: string): (value: string) => boolean {
  switch (op) {
    case '=':
      return (other) => other === value;
    case '!=':
      return (other) => other !== value;
    case '=~': {
      const pattern = patternOf(name, value);
      return (other) => pattern.matches(other);
    }
    case '!~': {
      const pattern = patternOf(name, value);
      return (other) => !pattern.matches(other);
    }
  }
}

/** Compiles a pattern of the linear-time kind, always anchored to the whole value. */
function patternOf(name: string, value: string): RE2JS {
  try {
    return RE2JS.compile(value, RE2JS.DOTALL);
  } catch (error) {
    throw errors.matcher({ name, cause: messageOf(error) });
  }
}

/** Throws for matchers that match a series without labels: the silence would mute everything. */
export function assertSelective(matchers: readonly LabelMatcher[]): void {
  if (matchers.every(({ matches }) => matches(''))) {
    throw errors.mutes_everything();
  }
}
