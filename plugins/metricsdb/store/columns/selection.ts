import type { Enforced } from 'svc/contracts/metricsdb';
import { matcher, type Matcher } from 'svc/query';

import { type Samples } from './samples.ts';

/**
 * Samples to drop: those of the series that any of the lists of matchers selects, between two
 * times, both inclusive.
 */
export interface Selection {
  readonly selectors: readonly (readonly Enforced[])[];
  readonly mint: number;
  readonly maxt: number;
}

/** Returns the lists of matchers of a selection. */
export const matchersOf = ({ selectors }: Selection): (readonly Matcher[])[] =>
  selectors.map((list) => list.map(({ name, op, value }) => matcher(name, op, value)));

/** Copies the settled samples that are outside a selection into `rest`. */
export function outside({ mint, maxt }: Selection, samples: Samples, rest: Samples): Samples {
  rest.clear();
  const [from, to] = [samples.after(mint - 1), samples.after(maxt)];
  for (let i = 0; i < samples.length; i = i + 1 === from ? Math.max(to, from) : i + 1) {
    if (i < from || i >= to) {
      rest.push(samples.times[i]!, samples.values[i]!, samples.stale[i] === 1);
    }
  }
  return rest;
}
