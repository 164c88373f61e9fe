import type { Window } from './matrix.ts';

/** Chart of what a call of a tool asked for. */
interface AskedChart {
  readonly query: string;
  readonly window: Window;
}

/** Tools that ask for numbers over time, or for one moment of them. */
const tools = new Set(['metrics_range', 'metrics_query', 'metrics_outliers']);

/** Returns the query of a call and its window: an hour up to the call, if it named none. */
export function chartAsked(tool: string, params: unknown, askedAt: number): AskedChart | undefined {
  const query = textIn(params, 'query');
  return query === undefined || !tools.has(tool)
    ? undefined
    : { query, window: windowOf(params, askedAt) };
}

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};
const hour = 3_600;

function windowOf(params: unknown, askedAt: number): Window {
  const until = Date.parse(textIn(params, 'until') ?? textIn(params, 'at') ?? '');
  const to = Math.floor((Number.isNaN(until) ? askedAt : until) / 1_000);
  const parts = [...(textIn(params, 'last') ?? '').matchAll(/(\d+)([smhdw])/g)];
  const length = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!,
    0,
  );
  return { from: to - (length === 0 ? hour : length), to };
}

/** Returns a parameter that is a text. */
export function textIn(params: unknown, name: string): string | undefined {
  const value: unknown =
    typeof params === 'object' && params !== null
      ? (params as Readonly<Record<string, unknown>>)[name]
      : undefined;
  return typeof value === 'string' ? value : undefined;
}
