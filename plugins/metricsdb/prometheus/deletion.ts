import { labelValue, metricName, queryError, type QueryRunner } from 'svc/query';

import type { StoreLifecycle } from '../store/lifecycle.ts';
import { matchersOf, type Selection } from '../store/columns/selection.ts';
import type { DropAsked, DropCount, QueryLimits } from '../thread/contract.ts';
import { Parameters } from './parameters.ts';
import { seriesMatchers } from './series-selector.ts';

const maxMetrics = 10;

/** Reads what a deletion selects. */
export function selectionAsked(asked: DropAsked): Selection {
  const parameters = Parameters.of(asked);
  const texts = parameters.all('match[]');
  if (texts.length === 0) {
    throw queryError('bad_data', 'no match[] parameter provided');
  }
  return {
    selectors: texts.map((text) =>
      seriesMatchers(text).map(({ name, op, value }) => ({ name, op, value })),
    ),
    ...parameters.window(),
  };
}

/** Counts the series of which a deletion would drop something. */
export async function countDropped(
  { store, runner }: { readonly store: StoreLifecycle; readonly runner: QueryRunner<QueryLimits> },
  asked: DropAsked,
  signal: AbortSignal,
): Promise<DropCount> {
  const selection = selectionAsked(asked);
  const matchers = matchersOf(selection);
  return await store.use((open) =>
    runner.run({ signal }, async (budget) => {
      const series = await open.series(matchers, selection, budget);
      const metrics = new Set(series.map((labels) => labelValue(labels, metricName)));
      return {
        series: series.length,
        inHead: open.inHead(matchers),
        metrics: [...metrics].sort().slice(0, maxMetrics),
      };
    }),
  );
}
