import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { type HostPorts, pluginStates, type PluginSources } from '../host/index.ts';
import { checkRoute } from '../http/index.ts';
import type { Threads } from '../isolate/index.ts';
import type { SelfMetrics } from '../observe/index.ts';
import { onlyDeclared, type Storage } from '../storage/index.ts';
import type { Base, HostParts } from './base.ts';

/** Returns the ports common to the hosts of a manager and an agent. */
export function lentPorts(parts: Base & HostParts & { readonly sources: PluginSources }) {
  const { dataDir, logs, settings, bus, outbound } = parts;
  const dataFolder = (id: string): string => {
    const folder = join(dataDir, 'plugins', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    ...parts,
    log: (component) => logs.logger(component),
    dataDir: dataFolder,
    settings(manifest, own) {
      own('settings', settings.declare(manifest.id, manifest.settings, manifest.kind === 'pack'));
      return {
        get: (key) => settings.get(key),
        watch: (key, listener) => own(`watch setting ${key}`, settings.watch(key, listener)),
      };
    },
    fetch: (url, request, owner) => outbound.fetch(url, request, owner),
    emit: (type, event) => bus.emit(type, event),
  } satisfies Partial<HostPorts>;
}

interface ManagerParts extends Base, HostParts {
  readonly sources: PluginSources;
  readonly metrics: SelfMetrics;
  readonly storage: Storage;
  readonly threads: Threads;
}

/** Lends the parts of core to a manager's host, which knows none of them. */
export function hostPorts(parts: ManagerParts): HostPorts {
  const { logs, metrics, storage, threads } = parts;
  return {
    ...lentPorts(parts),
    runsOn: 'manager',
    async migrate(manifest, migrations) {
      await storage.migrate(manifest.id, migrations);
      await storage.declareSealed(manifest.id, manifest.sealed);
    },
    tables: (id) => storage.tables(id),
    secrets: ({ id, sealed }) => onlyDeclared(storage.secrets(id), id, sealed),
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
    observe(plugin, current) {
      for (const state of pluginStates) {
        metrics.core.pluginState.set(state === current ? 1 : 0, { plugin, state });
      }
    },
  };
}
