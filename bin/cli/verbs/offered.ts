import { resolve } from 'node:path';

import type { Environment } from '../../../core/boot/index.ts';
import { pluginSources } from '../../../core/boot/product.ts';
import { discover, type PluginFolder } from '../../../core/host/index.ts';
import { currentProduct } from '../../product.ts';
import { builtIn, Catalogue, type Entry, verbPoint } from '../catalogue.ts';
import type { Command } from 'svc/cli';

/** Every command of this svc: its own, those of areas that are there, and what plugins bring as data. No svc is asked. */
export async function offered(environment: Environment): Promise<Catalogue> {
  const product = await currentProduct();
  const plugins = discover(pluginSources(product, resolve(environment['SVC_DATA_DIR'] ?? 'data')));
  const own = Object.entries(builtIn).filter(
    ([, { area }]) => area === undefined || plugins.has(area),
  );
  const entries = new Map<string, Entry>();
  for (const [words, entry] of [...plugins.values()].flatMap(entriesOf)) {
    if (!entries.has(words) && !Object.hasOwn(builtIn, words)) {
      entries.set(words, entry);
    }
  }
  return new Catalogue([...own, ...entries]);
}

/** Looked at lightly, so that one broken manifest hides its own commands only; the whole of it is checked when one is called. */
function entriesOf(folder: PluginFolder): readonly [words: string, entry: Entry][] {
  return Object.entries(summariesIn(folder)).map(([words, summary]) => [
    words,
    { summary, load: () => loaded(folder, words) },
  ]);
}

async function loaded(folder: PluginFolder, words: string): Promise<{ readonly command: Command }> {
  // What checks a manifest is loaded with the command that needs it: help goes without.
  const [{ readManifest }, { verbsOf }, { commandOf }] = await Promise.all([
    import('../../bundler/read-manifest.ts'),
    import('./verb.ts'),
    import('./command.ts'),
  ]);
  return { command: commandOf(verbsOf(readManifest(folder))[words]!, words) };
}

function summariesIn(folder: PluginFolder): Readonly<Record<string, string>> {
  try {
    const { contributes } = JSON.parse(String(folder.read('plugin.json'))) as {
      contributes?: Record<string, Record<string, { summary: unknown }>>;
    };
    return Object.fromEntries(
      Object.entries(contributes?.[verbPoint] ?? {}).map(([words, verb]) => [
        words,
        String(verb.summary),
      ]),
    );
  } catch {
    // "svc plugin check" and svc say what is wrong with it.
    return {};
  }
}
