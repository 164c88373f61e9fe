import { resolve } from 'node:path';

import type { Command, Environment } from 'svc/cli';

import { pluginSources } from '../../core/boot/settings/product.ts';
import { discover, type PluginFolder } from '../../core/host/index.ts';
import { currentProduct } from '../product/product.ts';
import { commandPoint, mayBringCode } from '../manifest/command-point.ts';
import { builtIn } from './built-in.ts';
import { Catalogue, type Entry } from './catalogue.ts';
import { verbPoint } from '../manifest/verb-point.ts';

/**
 * Returns every command of this svc: its own, and those that plugins contribute as code or data. No
 * svc is contacted.
 */
export async function offered(environment: Environment): Promise<Catalogue> {
  const product = await currentProduct();
  const plugins = discover(pluginSources(product, resolve(environment['SVC_DATA_DIR'] ?? 'data')));
  const entries = new Map<string, Entry>();
  for (const [words, entry] of [...plugins.values()].flatMap(entriesOf)) {
    if (!entries.has(words) && !Object.hasOwn(builtIn, words)) {
      entries.set(words, entry);
    }
  }
  return new Catalogue([...Object.entries(builtIn), ...entries]);
}

/**
 * Returns the entries of a plugin without a full check, so that one broken manifest hides its own
 * commands only; the whole of it is checked when one is called.
 */
function entriesOf(folder: PluginFolder): readonly [words: string, entry: Entry][] {
  const entries = (point: string, load: Load): readonly [string, Entry][] =>
    Object.entries(summariesIn(folder, point)).map(([words, summary]) => [
      words,
      { summary, load: async () => ({ command: await load(folder, words) }) },
    ]);
  return [
    ...(mayBringCode(folder) ? entries(commandPoint, areaCommand) : []),
    ...entries(verbPoint, verb),
  ];
}

type Load = (folder: PluginFolder, words: string) => Promise<Command>;

const areaCommand: Load = async (folder, words) => {
  // The manifest checker is loaded with the command that needs it: help works without it.
  const [{ readManifest }, { areaCommandsOf }, { loadAreaCommand }] = await Promise.all([
    import('../manifest/read-manifest.ts'),
    import('../manifest/area-commands.ts'),
    import('./load-area-command.ts'),
  ]);
  return await loadAreaCommand(folder, areaCommandsOf(readManifest(folder), folder)[words]!.file);
};

const verb: Load = async (folder, words) => {
  const [{ readManifest }, { verbsOf }, { commandOf }] = await Promise.all([
    import('../manifest/read-manifest.ts'),
    import('../manifest/verb.ts'),
    import('./verbs/command.ts'),
  ]);
  return commandOf(verbsOf(readManifest(folder))[words]!, words);
};

function summariesIn(folder: PluginFolder, point: string): Readonly<Record<string, string>> {
  try {
    const { contributes } = JSON.parse(String(folder.read('plugin.json'))) as {
      contributes?: Record<string, Record<string, { summary: unknown }>>;
    };
    return Object.fromEntries(
      Object.entries(contributes?.[point] ?? {}).map(([words, { summary }]) => [
        words,
        String(summary),
      ]),
    );
  } catch {
    // "svc plugin check" and svc report what is wrong with it.
    return {};
  }
}
