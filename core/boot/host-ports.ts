import { join } from 'node:path';

import { type HostPorts, pluginStates, type PluginSources, watchFolders } from '../host/index.ts';
import { checkRoute } from '../http/index.ts';
import { type ChildOrigin, type ChildState, startChild, type Threads } from '../isolate/index.ts';
import type { Outboxes } from '../events/index.ts';
import { onlyDeclared } from '../storage/index.ts';
import { lentPorts } from './lent-ports.ts';
import type { Commons } from './commons.ts';
import type { Foundation } from './foundation.ts';
import type { Product } from './product.ts';

export interface Rooms extends Foundation, Commons {
  readonly sources: PluginSources;
  /** Whether folders are watched at all. */
  readonly watch: boolean;
  readonly outboxes: Outboxes;
  readonly threads: Threads;
}

/** Lends the rooms of core to the manager's host, which knows none of them. */
export function hostPorts(rooms: Rooms): HostPorts {
  const { product, dataDir, clock, logs, metrics, storage, outboxes, threads } = rooms;
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
    launchPack: ({ manifest, label, code, filename, read, onStumble, onFailed }) => {
      const { heap_mb: heapMb, rss_mb: rssMb, call_ms: callMs, activate_ms: startMs } = manifest.limits;
      const onState = (state: ChildState, cause: string | undefined): void => {
        if (state === 'failed') {
          onFailed(cause ?? 'its process ended');
        } else if (state === 'backing-off') {
          metrics.core.childRestarts.add(1, { child: manifest.id });
          onStumble(cause ?? 'its process ended');
        }
      };
      return startChild({
        label,
        code,
        filename,
        origin: childOrigin(product, dataDir),
        read,
        heapMb,
        rssMb,
        callMs,
        startMs,
        log: logs.logger(manifest.id),
        clock,
        onState,
      });
    },
    watchFolders: rooms.watch ? watchFolders : (options) => watchFolders({ ...options, roots: [] }),
    observe(plugin, current) {
      for (const state of pluginStates) {
        metrics.core.pluginState.set(state === current ? 1 : 0, { plugin, state });
      }
    },
  };
}

/** The single binary starts itself in another role; from source a small file is enough. */
const childOrigin = ({ embedded }: Product, dataDir: string): ChildOrigin =>
  embedded ? { role: { args: [], env: { SVC_ROLE: 'child' } } } : { cacheDir: join(dataDir, 'cache') };
