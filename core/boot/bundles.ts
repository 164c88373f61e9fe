import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BundleSources } from '../host/index.ts';
import { sharedModules } from './shared-modules.ts';

/** This installation, whatever folder the plugins come from. */
export const installation = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** What the text of a plugin's thread brings along of core. */
const modules: ReadonlyMap<string, string> = new Map(
  [
    ['svc/sdk', '../sdk/index.ts'],
    ['svc/telemetry', '../telemetry/index.ts'],
    ['svc/template', '../template/index.ts'],
    ['svc/thread', '../isolate/thread-side.ts'],
  ].map(([name, file]) => [name!, fileURLToPath(new URL(file!, import.meta.url))]),
);

/** How plugins of this installation are bundled. */
export const bundleSources: BundleSources = {
  lent: new Set(sharedModules.keys()),
  modules,
  root: installation,
  cacheDirs: [join(installation, 'node_modules', '.cache', 'svc-plugins')],
};
