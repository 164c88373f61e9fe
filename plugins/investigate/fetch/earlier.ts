import type { Question } from 'svc/contracts/investigate';
import type { Series } from 'svc/rca';

import type { Found, Gatherer } from './gatherer.ts';
import type { Grid } from './metrics-source.ts';

const dayMs = 86_400_000;
/** Work has the rhythm of days and weeks. */
const ago: readonly number[] = [dayMs, 7 * dayMs];

type Labels = Readonly<Record<string, string>>;

export interface WithPast {
  readonly found: Found | undefined;
  /** Returns the series in the same hours a day and a week ago, where it existed. */
  readonly earlierOf: (labels: Labels) => Pick<Series, 'earlier'>;
}

/** A range of metrics, and the same hours of earlier days to compare it with. */
export async function askWithPast(gatherer: Gatherer, question: Question): Promise<WithPast> {
  const shifted = (ms: number): Question => ({
    ...question,
    window: { from: question.window.from - ms, to: question.window.to - ms },
  });
  const [found, ...past] = await Promise.all(
    [question, ...ago.map(shifted)].map((one) => gatherer.ask(one)),
  );
  const days = past.map((one) => {
    const { series } = (one?.value ?? { series: [] }) as Pick<Grid, 'series'>;
    return new Map(series.map(({ labels, values }) => [keyOf(labels), values]));
  });
  return {
    found,
    earlierOf(labels) {
      const key = keyOf(labels);
      const earlier = days.flatMap((day, at) =>
        day.has(key) ? [{ ago_ms: ago[at]!, values: day.get(key)! }] : [],
      );
      return earlier.length === 0 ? {} : { earlier };
    },
  };
}

const keyOf = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
