import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import type { Bundle, Bundler } from '../../core/host/index.ts';
import { testedRoot } from './roots.ts';

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
const known = new Map<string, { readonly code: string; readonly run: () => unknown }>();
/** Each reload has a name of its own, and comes once. */
const maxKnown = 50;

/** Texts of the checkout, by the file that they begin with. */
const texts = new Map<string, Promise<Bundle>>();
const shipped = join(testedRoot, 'plugins/');

/** Looks at the files of the checkout once: nobody changes them while its tests run. */
const once =
  (bundle: Bundler['plugin']): Bundler['plugin'] =>
  (entry, manifest) => {
    if (!entry.startsWith(shipped)) {
      return bundle(entry, manifest);
    }
    const text = texts.get(entry) ?? bundle(entry, manifest);
    texts.set(entry, text);
    return text;
  };

/** Compiles the text of each plugin once: the hosts of one process run mostly the same plugins. */
export const compiledOnce = (bundler: Bundler): Bundler => ({
  ...bundler,
  plugin: once(bundler.plugin),
  thread: once(bundler.thread),
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
