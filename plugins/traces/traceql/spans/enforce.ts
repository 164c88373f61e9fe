import type { Matcher } from 'svc/query';

import type { Condition, SpanPrefilter } from './source.ts';
import { attribute, type Attribute, type Span, type TraceSpans, type Value } from './span.ts';

/** Restrictions on what the caller may see, as conditions on the resource of each span. */
export interface Sight {
  /**
   * Returns the trace without the spans that the caller may not see; undefined if nothing is left.
   */
  visible(trace: TraceSpans): TraceSpans | undefined;
  sees(resource: readonly Attribute[]): boolean;
  narrow(filter: SpanPrefilter | undefined): SpanPrefilter | undefined;
}

export function sightOf(matchers: readonly Matcher[]): Sight {
  const judged = new WeakMap<readonly Attribute[], boolean>();

  function sees(resource: readonly Attribute[]): boolean {
    let seen = judged.get(resource);
    if (seen === undefined) {
      seen = matchers.every((matcher) =>
        matcher.matches(textOf(attribute(resource, matcher.name))),
      );
      judged.set(resource, seen);
    }
    return seen;
  }

  const sighted = (span: Span): boolean => sees(span.resource);
  // One that an absent attribute passes is no reason to leave anything out.
  const conditions = matchers
    .filter((matcher) => !matcher.matches(''))
    .map((matcher): Condition => {
      const condition = {
        field: { scope: 'resource', key: matcher.name },
        test: (value: Value) => matcher.matches(textOf(value)),
      } as const;
      return matcher.op === '='
        ? { ...condition, equals: { type: 'string', value: matcher.value } }
        : condition;
    });

  return {
    sees,
    visible(trace) {
      if (matchers.length === 0 || trace.spans.every(sighted)) {
        return trace;
      }
      const spans = trace.spans.filter(sighted);
      return spans.length === 0 ? undefined : { traceId: trace.traceId, spans };
    },
    narrow(filter) {
      const parts = [...conditions, ...(filter === undefined ? [] : [filter])];
      return parts.length < 2 ? parts[0] : { all: parts };
    },
  };
}

/** Converts a value to label form: absent becomes the empty text. */
export function textOf(value: Value | undefined): string {
  switch (value?.type) {
    case 'string':
      return value.value;
    case 'int':
      return String(value.exact ?? value.value);
    case 'float':
    case 'bool':
      return String(value.value);
    default:
      return '';
  }
}
