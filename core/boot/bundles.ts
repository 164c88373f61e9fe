import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import project from '../../package.json' with { type: 'json' };
import type { BundleSources } from '../host/index.ts';

/** This installation, whatever folder the plugins come from. */
export const installation = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/**
 * The product's own modules by the names that plugins import: the contract, and the libraries that are bundled into each
 * plugin that uses them. A plugin is lent the contract; a thread is lent nothing, so its text brings that along as well.
 */
const modules: ReadonlyMap<string, string> = new Map(
  Object.entries(project.exports).map(([name, file]) => [name.replace('.', 'svc'), join(installation, file)]),
);

/** What hosts lend to plugins, each by its own table of modules; everything else a plugin uses is bundled into it. */
export const lentNames = ['svc/sdk', 'svc/thread', 'ajv', 'jsonwebtoken', 'kysely', 're2js', 'semver', 'ssh2', 'typebox', 'ws', 'yaml'] as const;

/** How plugins of this installation are bundled. */
export const bundleSources: BundleSources = {
  lent: new Set(lentNames),
  modules,
  root: installation,
  cacheDirs: [join(installation, 'node_modules', '.cache', 'svc-plugins')],
};
