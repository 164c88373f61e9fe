import { type HostCheck, HostChecks } from 'svc/contracts/investigate';
import { MetricsQueries, queryFault } from 'svc/contracts/metricsdb';
import type { PluginContext } from 'svc/sdk';

import { queryOf, shippedChecks } from './run-checks.ts';

/** Tells the checks of hosts by name, those of other plugins last: their code may replace ours. */
export function knownChecks({
  extend,
  services,
}: Pick<PluginContext, 'extend' | 'services'>): () => ReadonlyMap<string, HostCheck> {
  const metrics = services.maybe(MetricsQueries);
  const others = extend.open(HostChecks, {
    problem: (id) =>
      Object.hasOwn(shippedChecks, id)
        ? 'the name belongs to a check that ships with svc; choose another'
        : undefined,
    fault: (_id, check: HostCheck) => queryFault(metrics, queryOf(check, ['1'])),
  });
  return () =>
    new Map([
      ...Object.entries(shippedChecks),
      ...others.list().map(({ id, value }) => [id, value] as const),
    ]);
}
