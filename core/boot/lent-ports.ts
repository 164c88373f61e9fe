import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { HostPorts, PluginSources } from '../host/index.ts';
import { bundleSources } from './bundles.ts';
import type { Commons } from './commons.ts';
import type { Ground } from './ground.ts';

type Common =
  | 'registry'
  | 'container'
  | 'sources'
  | 'schemas'
  | 'readManifest'
  | 'shared'
  | 'bundles'
  | 'clock'
  | 'ids'
  | 'memory'
  | 'log'
  | 'dataDir'
  | 'settings'
  | 'fetch'
  | 'emit';

/** What a host is lent in either house. */
export function lentPorts(rooms: Ground & Commons & { readonly sources: PluginSources }): Pick<HostPorts, Common> {
  const { dataDir, sources, registry, container, memory, clock, ids, logs, settings, bus, outbound, schemas, readManifest, shared } = rooms;
  const dataFolder = (id: string): string => {
    const folder = join(dataDir, 'plugins', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    registry,
    container,
    sources,
    schemas,
    readManifest,
    shared,
    // The installation may belong to somebody else, as that of an agent with a user of its own does.
    bundles: { ...bundleSources, cacheDirs: [...bundleSources.cacheDirs!, join(dataDir, 'cache', 'bundles')] },
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
    fetch: (url, request, owner) => outbound.fetch(url, request, owner),
    emit: (type, event) => bus.emit(type, event),
  };
}
