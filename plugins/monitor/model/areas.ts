import type { Dashboard } from './dashboard.ts';
import { queriesOf, storeOf } from './panel.ts';

const areaOf = { metrics: 'metricsdb', logs: 'logs', traces: 'traces' } as const;

/** Returns the areas that a dashboard can show data of, whatever is chosen for its variables. */
export function areasOf({
  panels,
  variables,
}: Pick<Dashboard, 'panels' | 'variables'>): ReadonlySet<'metricsdb' | 'logs' | 'traces'> {
  const stores = [
    ...panels.flatMap((panel) => queriesOf(panel).map((query) => storeOf(panel, query))),
    ...variables.flatMap(({ type, store = 'metrics' }) => (type === 'query' ? [store] : [])),
  ];
  return new Set(stores.map((store) => areaOf[store]));
}
