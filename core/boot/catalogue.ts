import type { Registry } from '../registry/index.ts';
import type { HouseCatalogue } from '../sdk/index.ts';

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
});
