import type { HostPorts, PluginSources } from '../../core/host/index.ts';
import { SvcError } from '../../core/sdk/index.ts';
import { lentPorts } from '../../core/boot/lent.ts';
import type { HostParts } from '../../core/boot/base.ts';
import type { EdgeMetrics } from './metrics.ts';
import type { Base } from '../../core/boot/base.ts';

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
        'keeps no database: remove its migrations and sealed tables, and keep files in ctx.dataDir',
      ),
    tables: (id) => refuse(id, 'keeps no database: keep files in ctx.dataDir'),
    secrets: ({ id }) => ({
      seal: () => refuse(id, 'seals no secrets'),
      open: () => refuse(id, 'seals no secrets'),
    }),
    checkRoute: ({ path }) => refuse(path, 'serves no HTTP: contribute to uplink.methods'),
    launchThread: ({ manifest }) => refuse(manifest.id, 'runs no threads'),
    packRestarted: (id) => refuse(id, 'runs no packs'),
  };
}

function refuse(who: string, what: string): never {
  throw new SvcError('unavailable', `${who}: an edge ${what}`);
}
