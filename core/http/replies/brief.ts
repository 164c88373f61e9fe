import { readsAll } from '../../auth/index.ts';
import { type FinishedJson } from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { CompiledRoute } from '../routes/route-table.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly text: string | FinishedJson | undefined;
}

/**
 * Returns the answer for this caller: an API token that may make the call but not read what it
 * answers gets its `brief` fields.
 */
export function forCaller(
  { principal }: Exchange,
  { declaration: { brief }, reads }: CompiledRoute,
  answer: JsonAnswer,
): JsonAnswer {
  const { status, text } = answer;
  if (brief === undefined || status >= 400 || text === undefined || readsAll(principal, reads)) {
    return answer;
  }
  if (brief.length === 0) {
    return { status: 204, text: undefined };
  }
  const whole = JSON.parse(
    typeof text === 'string' ? text : Buffer.from(text).toString(),
  ) as Readonly<Record<string, unknown>>;
  const kept = brief.filter((name) => Object.hasOwn(whole, name));
  return {
    status,
    text: JSON.stringify(Object.fromEntries(kept.map((name) => [name, whole[name]]))),
  };
}
