import { RE2JS } from 're2js';

import type { Case, Fact } from './case.ts';

/** Call that an agent made, as its run shows it. */
export interface MadeCall {
  readonly name: string;
  readonly status: string;
}

/** What came of asking one case. */
export interface Answered {
  readonly text: string;
  readonly finish: string;
  readonly agent: string;
  readonly calls: readonly MadeCall[];
  /** Tools of the world that were executed, in order. */
  readonly executed: readonly string[];
  readonly turns: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
  /** Why there is no answer. */
  readonly problem?: string;
}

export interface Verdict {
  readonly passed: boolean;
  /** Facts that the answer lacks; a judge may find them in other words. */
  readonly missing: readonly Fact[];
  /** Reasons why the case fails, whatever a judge says. */
  readonly wrong: readonly string[];
}

/** Ways in which people say that something cannot be known. */
const notKnown =
  "(do|did|does) ?n[o']t know|not known|cannot (tell|say|know|be (determined|known|answered|said))|can't (tell|say|know)|(could|can) ?not (find|determine|see|verify|confirm)|couldn't (find|determine)|unable to|no (data|evidence|record|metric|metrics|log|logs|trace|traces|such|information|document|sign|entry|series|measurement)|not (recorded|measured|available|enough|in the data|visible)|insufficient|nothing (is |was )?(known|recorded|found)|there is no|is missing|are missing|unknown|weiß nicht|nicht bekannt";

/** Scores an answer without a model: facts said and not said, tools, changes, budget. */
export function verdictOf(asked: Case, answered: Answered): Verdict {
  const { must = [], must_not: mustNot = [], never = [], budget = {}, change } = asked;
  const missing = must.filter((fact) => !isSaid(fact, answered.text));
  const ran = (tool: string): number => answered.executed.filter((one) => one === tool).length;
  const tokens = answered.inputTokens + answered.outputTokens;
  const wrong = [
    ...(answered.finish === 'error'
      ? [`the run failed: ${answered.problem ?? 'see the server log'}`]
      : []),
    ...mustNot
      .filter((fact) => isSaid(fact, answered.text))
      .map((fact) => `says ${shownFact(fact)}`),
    ...(asked.unknown === true && !matches(notKnown, answered.text)
      ? ['does not say that it is not known']
      : []),
    ...never.filter((tool) => ran(tool) > 0).map((tool) => `executed ${tool}`),
    ...(change === undefined || ran(change.tool) === change.ran
      ? []
      : [`${change.tool} ran ${ran(change.tool)} times instead of ${change.ran}`]),
    ...(change === undefined || answered.calls.some(({ name }) => name.endsWith(`:${change.tool}`))
      ? []
      : [`did not ask for ${change.tool}`]),
    ...over('calls', answered.calls.length, budget.calls),
    ...over('tokens', tokens, budget.tokens),
  ];
  return { passed: missing.length === 0 && wrong.length === 0, missing, wrong };
}

const over = (what: string, used: number, most: number | undefined): readonly string[] =>
  most !== undefined && used > most ? [`${used} ${what} of ${most}`] : [];

/** Returns whether a text says a fact. */
export function isSaid(fact: Fact, text: string): boolean {
  return quoteOf(fact, text) !== undefined;
}

/** Returns the words of a text that say a fact. */
export function quoteOf(fact: Fact, text: string): string | undefined {
  if (typeof fact === 'string') {
    const matcher = expression(fact).matcher(text);
    return matcher.find() ? (matcher.group() ?? '') : undefined;
  }
  if ('any' in fact) {
    for (const one of fact.any) {
      const quote = quoteOf(one, text);
      if (quote !== undefined) {
        return quote;
      }
    }
    return undefined;
  }
  const { number, within = 0, unit } = fact;
  const matcher = expression(
    `(-?\\d+(?:[.,]\\d{3})*(?:\\.\\d+)?(?:e[+-]?\\d+)?)${unit ?? ''}`,
  ).matcher(text);
  while (matcher.find()) {
    const said = Number((matcher.group(1) ?? '').replaceAll(/[, ]/g, ''));
    if (Math.abs(said - number) <= within) {
      return matcher.group() ?? '';
    }
  }
  return undefined;
}

/** Returns a fact in words, for a person or a judge. */
export function shownFact(fact: Fact): string {
  if (typeof fact === 'string') {
    return `"${fact}"`;
  }
  if (fact.means !== undefined) {
    return fact.means;
  }
  return 'any' in fact
    ? fact.any.map(shownFact).join(' or ')
    : `${fact.number}${fact.within === undefined ? '' : ` ± ${fact.within}`}`;
}

const expressions = new Map<string, RE2JS>();

function expression(pattern: string): RE2JS {
  const found = expressions.get(pattern) ?? RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  expressions.set(pattern, found);
  return found;
}

const matches = (pattern: string, text: string): boolean =>
  expression(pattern).matcher(text).find();
