import { type PluginContext, Plugins } from 'svc/sdk';

import type { Base } from './base.ts';
import { ManagerAddresses } from './plugins/addresses.ts';
import { Catalogue } from './plugins/catalogue.ts';
import { DesiredState } from './plugins/desired-state.ts';
import { EdgePlugins, pluginRoutes } from './plugins/edge-plugins.ts';
import { HealthRecords } from './plugins/plugin-health.ts';
import type { Presence } from './presence/presence.ts';

export type EdgePluginRoom = ReturnType<typeof openPlugins>;

/**
 * Opens the management of edge plugins: which exist, the desired state of each, and their health.
 */
export function openPlugins(base: Base, presence: Presence, ctx: PluginContext) {
  const catalogue = new Catalogue(ctx.services.use(Plugins), base.log);
  const addresses = new ManagerAddresses(base.settings);
  const desired = new DesiredState({ ...base, catalogue, addresses, presence });
  const health = new HealthRecords({ ...base, catalogue });
  return {
    catalogue,
    addresses,
    desired,
    health,
    routes: pluginRoutes(new EdgePlugins({ ...base, catalogue, desired, health })),
  };
}
