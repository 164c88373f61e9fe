import type { HostPorts, PluginSources } from '../../core/host/index.ts';
import { lentPorts } from '../../core/boot/lent.ts';
import type { HostParts } from '../../core/boot/base.ts';
import type { EdgeMetrics } from './metrics.ts';
import type { Base } from '../../core/boot/base.ts';
import { errors } from './errors.ts';

export interface EdgeRooms extends Base, HostParts {
  readonly sources: PluginSources;
  readonly metrics: EdgeMetrics;
}

/**
 * Returns the ports of an edge's host. What an edge does not support is refused with a sentence
 * when a plugin requests it.
 */
export function edgePorts(rooms: EdgeRooms): HostPorts {
  return {
    ...lentPorts(rooms),
    runsOn: 'edge',
    metrics: (id, own) => rooms.metrics.forPlugin(id, own),
    migrate: async ({ id }) =>
      refuse(
        id,
        'has no database: remove its migrations and sealed tables, and keep files in ctx.dataDir',
      ),
    tables: (id) => refuse(id, 'has no database: keep files in ctx.dataDir'),
    secrets: ({ id }) => ({
      seal: () => refuse(id, 'cannot seal secrets'),
      open: () => refuse(id, 'cannot seal secrets'),
    }),
    checkRoute: ({ path }) => refuse(path, 'does not serve HTTP: contribute to uplink.methods'),
    launchThread: ({ manifest }) => refuse(manifest.id, 'does not run threads'),
    packRestarted: (id) => refuse(id, 'does not run packs'),
  };
}

function refuse(who: string, what: string): never {
  throw errors.not_on_an_edge({ who, what });
}
