import type { Draft, Outage, Registry } from '../registry/index.ts';
import { checkContributions } from './extension-point.ts';
import type { Schemas } from './schemas.ts';

/** Makes a draft visible in one synchronous step; a conflict throws and leaves the old snapshot. */
export function commit(draft: Draft, registry: Registry, schemas: Schemas, outages: readonly Outage[]): void {
  checkContributions(draft.tables.contributions.values(), registry.current, schemas);
  registry.publish({ add: [draft], outages });
  draft.generation.committed = true;
}
