import { type HostPorts, pluginStates, type PluginSources, watchFolders } from '../host/index.ts';
import { checkRoute } from '../http/index.ts';
import type { Threads } from '../isolate/index.ts';
import type { Outboxes } from '../events/index.ts';
import { onlyDeclared } from '../storage/index.ts';
import { lentPorts } from './lent-ports.ts';
import type { Commons } from './commons.ts';
import type { Foundation } from './foundation.ts';

export interface Rooms extends Foundation, Commons {
  readonly sources: PluginSources;
  /** Whether folders are watched at all. */
  readonly watch: boolean;
  readonly outboxes: Outboxes;
  readonly threads: Threads;
}

/** Lends the rooms of core to the manager's host, which knows none of them. */
export function hostPorts(rooms: Rooms): HostPorts {
  const { logs, metrics, storage, outboxes, threads } = rooms;
  return {
    ...lentPorts(rooms),
    runsOn: 'manager',
    async migrate(manifest, migrations) {
      await storage.migrate(manifest.id, migrations);
      await storage.declareSealed(manifest.id, manifest.sealed);
    },
    tables: (id) => storage.tables(id),
    secrets: ({ id, sealed }) => onlyDeclared(storage.secrets(id), id, sealed),
    outbox: (id, own, run, serves) => outboxes.forPlugin(id, own, run, serves),
    metrics: (id, own) => metrics.forPlugin(id, own),
    checkRoute,
    launchThread: ({ manifest: { id, limits }, name, onStumble, ...launch }) => {
      const labels = { plugin: id, thread: name };
      return threads.claim({
        ...launch,
        owner: id,
        name,
        drainMs: limits.drain_ms,
        log: logs.logger(id),
        onStumble(cause) {
          metrics.core.threadRestarts.add(1, labels);
          onStumble(cause);
        },
        onHeap: (bytes) => metrics.core.threadHeap.set(bytes, labels),
      });
    },
    packRestarted: (child) => metrics.core.childRestarts.add(1, { child }),
    watchFolders: rooms.watch ? watchFolders : (options) => watchFolders({ ...options, roots: [] }),
    observe(plugin, current) {
      for (const state of pluginStates) {
        metrics.core.pluginState.set(state === current ? 1 : 0, { plugin, state });
      }
    },
  };
}
