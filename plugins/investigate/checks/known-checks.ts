import { type HostCheck, HostChecks } from 'svc/contracts/investigate';
import type { PluginContext } from 'svc/sdk';

import { shippedChecks } from './run-checks.ts';

/** Tells the checks of hosts by name, those of other plugins last: one of theirs may replace ours. */
export function knownChecks(
  extend: Pick<PluginContext['extend'], 'open'>,
): () => ReadonlyMap<string, HostCheck> {
  const others = extend.open(HostChecks);
  return () =>
    new Map([
      ...Object.entries(shippedChecks),
      ...others.list().map(({ id, value }) => [id, value] as const),
    ]);
}
