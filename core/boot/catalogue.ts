import { describeRoute } from '../http/index.ts';
import type { Registry, Snapshot } from '../registry/index.ts';
import type { DescribedRoute, HouseCatalogue } from '../sdk/index.ts';

const described = new WeakMap<Snapshot, readonly DescribedRoute[]>();

/** Reads the catalogue out of the snapshot that the caller sees. */
export const catalogueOf = (registry: Registry): HouseCatalogue => ({
  actions: () =>
    [...registry.seen.generations.values()].flatMap(({ pluginId, manifest }) =>
      Object.entries(manifest.actions).map(([action, description]) => ({ action, description, pluginId })),
    ),
  routes: () =>
    [...registry.seen.routes.values()].map(({ owner, value: { method, path, access, summary } }) => ({
      method,
      path,
      access,
      summary,
      pluginId: owner.pluginId,
    })),
  declarations() {
    const snapshot = registry.seen;
    const known = described.get(snapshot) ?? [...snapshot.routes.values()].map(describeRoute);
    described.set(snapshot, known);
    return known;
  },
});
