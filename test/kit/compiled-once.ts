import { compileFunction } from 'node:vm';

import type { Bundler } from '../../core/host/index.ts';

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
const known = new Map<string, { readonly code: string; readonly run: () => unknown }>();
/** Each reload has a name of its own, and comes once. */
const maxKnown = 50;

/** Compiles the text of each plugin once: the hosts of one process run mostly the same plugins. */
export const compiledOnce = (bundler: Bundler): Bundler => ({
  ...bundler,
  functionOf(code, filename) {
    // A function that is compiled here has no loader for modules that it imports while it runs.
    if (/\bimport\s*\(/.test(code)) {
      return undefined;
    }
    const found = known.get(filename);
    if (found?.code === code) {
      return found.run;
    }
    const run = compileFunction(code, parameters, { filename }) as () => unknown;
    if (known.size >= maxKnown) {
      known.delete(known.keys().next().value!);
    }
    known.set(filename, { code, run });
    return run;
  },
});
