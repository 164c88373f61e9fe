import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import project from '../../package.json' with { type: 'json' };
import { type Bundler, lentNames } from '../../core/host/index.ts';
import { installation } from '../../core/boot/settings/product.ts';
import { cacheFolders, ownFolder } from '../product/cache-folder.mjs';
import { stackMaps } from '../product/stack-maps.ts';
import { bundlePlugin, bundleThread } from './bundle.ts';
import type { BundleSources } from './esbuild.ts';
import { bundlePack } from './pack-bundle.ts';

/**
 * Modules of the product by the names that plugins import: the contract, and the libraries bundled
 * into each plugin that uses them. A plugin shares the contract; a thread shares nothing, so its
 * text includes that as well.
 */
const modules: ReadonlyMap<string, string> = new Map(
  Object.entries(project.exports)
    .flatMap(([name, file]) => (name.includes('*') ? eachOf(name, file) : [[name, file] as const]))
    .map(([name, file]) => [name.replace('.', 'svc'), join(installation, file)]),
);

/** Expands an entry with a `*`, one for each file that fits it. */
function eachOf(name: string, pattern: string): (readonly [name: string, file: string])[] {
  const [folder, ending] = pattern.split('*') as [string, string];
  const home = join(installation, folder);
  // The single binary has no sources, and no compiler that would ask for them.
  return (existsSync(home) ? readdirSync(home) : [])
    .filter((file) => file.endsWith(ending))
    .map((file) => [name.replace('*', file.slice(0, -ending.length)), folder + file]);
}

/** Sources for bundling the plugins of this installation. */
export const bundleSources: BundleSources = {
  lent: new Set(lentNames),
  modules,
  root: installation,
  cacheDirs: [join(installation, 'node_modules', '.cache', 'svc-plugins')],
};

/**
 * Returns the sources for bundling commands: cached next to the installation, or in the user's
 * cache if another user owns that.
 */
export function commandSources(): BundleSources {
  try {
    accessSync(join(installation, 'node_modules'), constants.W_OK);
    return bundleSources;
  } catch {
    return { ...bundleSources, cacheDirs: [...bundleSources.cacheDirs!, ...ownCommands()] };
  }
}

function ownCommands(): readonly string[] {
  for (const folder of cacheFolders()) {
    try {
      return [ownFolder(join(ownFolder(folder), 'commands'))];
    } catch {
      // Not ours to write, or to trust: the next one.
      continue;
    }
  }
  return [];
}

/**
 * Returns a bundler with an additional cache in `<data>`, for an installation that belongs to
 * another user, like that of an agent.
 */
export function sourceBundler(cacheDir: string): Bundler {
  const sources = { ...bundleSources, cacheDirs: [...bundleSources.cacheDirs!, cacheDir] };
  return {
    plugin: (entry, { id }) => bundlePlugin(entry, id, sources),
    // A pack that is being developed may bring packages along. Either kind runs in its own process,
    // where only the contract is shared.
    pack: (folder, manifest) =>
      folder.origin === 'data'
        ? bundlePack(folder, manifest)
        : bundlePlugin(join(folder.path, manifest.entry), manifest.id, {
            ...sources,
            lent: new Set(['svc/sdk']),
          }),
    thread: (entry, { id }) => bundleThread(entry, id, sources),
    withoutMap: (code, filename) => stackMaps.withoutMap(code, filename),
    mapped: (stack) => stackMaps.mapped(stack),
  };
}
