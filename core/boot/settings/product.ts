import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type PluginFolder, folderInMemory, type PluginSources } from '../../host/index.ts';

/** Folder of this installation, whatever folder the plugins come from. */
export const installation = fileURLToPath(new URL('../../..', import.meta.url)).replace(
  /[/\\]$/,
  '',
);

/** Assets of the single binary in place of files. */
interface EmbeddedAssets {
  /** Plugin id → relative path → content; shipped personas and skills travel as a data-only plugin. */
  readonly plugins: ReadonlyMap<string, Pick<ReadonlyMap<string, Buffer>, 'get' | 'keys'>>;
  /** Path of the extracted SQLite addon. */
  readonly nativeBinding: string;
}

/** Product being run: a checkout, or one file. */
export interface Product {
  readonly version: string;
  /** Folder with plugins/, agents/, skills/ and config/; those that are missing are simply empty. */
  readonly root: string;
  /** CommonJS text of a thread by the name of its source, where it was compiled ahead. */
  readonly thread?: (name: string) => string | undefined;
  readonly embedded?: EmbeddedAssets;
  /** Folders whose agents/ and skills/ are served besides: that of the program, and the working directory. */
  readonly beside?: readonly string[];
}

export function productFromSource(root: string): Product {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { version, root };
}

/** Folders that are looked into for plugins, shipped ones first. */
export function pluginSources(product: Product, dataDir: string): PluginSources {
  const embedded: PluginFolder[] = [...(product.embedded?.plugins ?? [])].map(([id, files]) =>
    folderInMemory(id, files),
  );
  const shipped = product.embedded
    ? []
    : [{ path: join(product.root, 'plugins'), origin: 'shipped' as const }];
  return { roots: [...shipped, { path: join(dataDir, 'packs'), origin: 'data' }], embedded };
}

export const defaultsFile = ({ root }: Product): string => {
  const file = join(root, 'config', 'default.yaml');
  return existsSync(file) ? file : '';
};
