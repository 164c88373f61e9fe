import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { DependencyContainer } from 'tsyringe';

import type { Bus, Outboxes } from '../events/index.ts';
import { type HostMemory, type HostPorts, pluginStates, type PluginSources, readPersona, readSkill } from '../host/index.ts';
import { checkRoute } from '../http/index.ts';
import { type ChildOrigin, type ChildState, type Programs, startChild, type Threads } from '../isolate/index.ts';
import type { Logs, SelfMetrics } from '../observe/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Clock, Ids } from '../sdk/index.ts';
import { onlyDeclared, type Storage } from '../storage/index.ts';
import { bundleSources } from './bundles.ts';
import type { Product } from './product.ts';
import type { Settings } from './settings.ts';
import { sharedModules } from './shared-modules.ts';

export interface Rooms {
  readonly product: Product;
  readonly dataDir: string;
  readonly sources: PluginSources;
  readonly registry: Registry;
  readonly container: DependencyContainer;
  readonly memory: HostMemory;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logs: Logs;
  readonly metrics: SelfMetrics;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly bus: Bus;
  readonly outboxes: Outboxes;
  readonly outbound: Outbound;
  readonly threads: Threads;
  readonly programs: Programs;
}

/** Lends the rooms of core to the host, which knows none of them. */
export function hostPorts(rooms: Rooms): HostPorts {
  const { product, dataDir, sources, registry, container, memory, clock, ids, logs, metrics, settings, storage, bus, outboxes, outbound, threads, programs } =
    rooms;
  const dataFolder = (id: string): string => {
    const folder = join(dataDir, 'plugins', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    registry,
    container,
    sources,
    runsOn: 'manager',
    shared: sharedModules,
    bundles: bundleSources,
    clock,
    ids,
    memory,
    log: (component) => logs.logger(component),
    dataDir: dataFolder,
    settings(manifest, own) {
      own('settings', settings.declare(manifest.id, manifest.settings));
      return {
        get: (key) => settings.get(key),
        watch: (key, listener) => own(`watch setting ${key}`, settings.watch(key, listener)),
      };
    },
    async migrate(manifest, migrations) {
      await storage.migrate(manifest.id, migrations);
      await storage.declareSealed(manifest.id, manifest.sealed);
    },
    tables: (id) => storage.tables(id),
    secrets: ({ id, sealed }) => onlyDeclared(storage.secrets(id), id, sealed),
    outbox: (id, own, run, serves) => outboxes.forPlugin(id, own, run, serves),
    metrics: (id, own) => metrics.forPlugin(id, own),
    fetch: (url, request, owner) => outbound.fetch(url, request, owner),
    emit: (type, event) => bus.emit(type, event),
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
    findProgram: (name) => programs.find(name),
    launchProgram: ({ manifest: { id }, ...launch }) => programs.claim({ ...launch, owner: id, cwd: dataFolder(id), log: logs.logger(id) }),
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
    readPersona: (text, file) => readPersona(text, { file }),
    readSkill: (text, folderName, file) => readSkill(text, folderName, { file }),
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
