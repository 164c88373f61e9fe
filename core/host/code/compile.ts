import { join } from 'node:path';

import { type PluginManifest } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import type { PluginFolder } from '../folder/folder.ts';

export interface Bundle {
  readonly code: string;
  /** Name that stacks show. */
  readonly filename: string;
  /** Files whose change means another bundle. */
  readonly inputs: readonly string[];
}

/** Makes one CommonJS text of sources; a svc whose plugins all come prebuilt has none. */
export interface Bundler {
  plugin(entry: string, manifest: PluginManifest): Promise<Bundle>;
  thread(entry: string, manifest: PluginManifest): Promise<Bundle>;
  /** Bundles files in the folder of a pack, and nothing else. */
  pack(folder: PluginFolder, manifest: PluginManifest & { entry: string }): Promise<Bundle>;
  /** Takes its source map off a text that is about to run, and keeps it for the stacks that name `filename`. */
  withoutMap(code: string, filename: string): string;
  mapped(stack: string): string;
  /** A CommonJS text as a function of what Node gives to each, where what the engine made of it before is at hand. */
  functionOf?:
    | ((
        code: string,
        filename: string,
      ) => ((this: object, ...given: unknown[]) => void) | undefined)
    | undefined;
}

/** A text, and where it may be had as a function. */
export type RunnableText = Pick<Bundle, 'code' | 'filename'> & Pick<Bundler, 'functionOf'>;

export interface Compiled extends Bundle {
  readonly threads: ThreadPrograms;
}

export type ThreadProgram = Pick<Bundle, 'code' | 'filename'>;
/** Texts of the plugin's threads, by the name of their file without its ending; those that are built are read when one is asked for. */
export type ThreadPrograms = Pick<ReadonlyMap<string, ThreadProgram>, 'get' | 'keys'>;

/** Matches files whose program runs in a separate thread; they are next to the manifest. */
const workerFile = /^([^/]+-worker)\.ts$/;
const builtWorkerFile = /^([^/]+-worker)\.cjs$/;

export const threadName = (entry: string): string => entry.replace(/\.(?:ts|cjs)$/, '');

/** Names of a folder's worker files, without their ending. */
export const workersIn = (files: readonly string[], built = false): readonly string[] =>
  files.flatMap((name) => (built ? builtWorkerFile : workerFile).exec(name)?.[1] ?? []);

/** One CommonJS text for a plugin's entry, and for each of its threads: read as they are when prebuilt, bundled from source otherwise. */
export async function compile(
  folder: PluginFolder,
  manifest: PluginManifest & { entry: string },
  bundler: Bundler | undefined,
): Promise<Compiled> {
  const filename = join(folder.path, manifest.entry);
  const text = folder.read(manifest.entry);
  if (!text) {
    throw errors.no_entry({ plugin: manifest.id, entry: manifest.entry });
  }
  const hasThreads = manifest.kind !== 'pack';
  if (manifest.entry.endsWith('.cjs')) {
    const names = hasThreads ? workersIn(folder.files(), true) : [];
    const fileOf = (name: string): string => join(folder.path, `${name}.cjs`);
    const programOf = (name: string): ThreadProgram => ({
      code: folder.read(`${name}.cjs`)!.toString('utf8'),
      filename: fileOf(name),
    });
    const threads = {
      keys: () => names.values(),
      get: (name: string) => (names.includes(name) ? programOf(name) : undefined),
    };
    return {
      code: text.toString('utf8'),
      filename,
      inputs: [filename, ...names.map(fileOf)],
      threads,
    };
  }
  if (!bundler) {
    throw errors.no_compiler({ plugin: manifest.id });
  }
  if (!hasThreads) {
    return { ...(await bundler.pack(folder, manifest)), threads: new Map() };
  }
  const names = workersIn(folder.files());
  const [plugin, ...threads] = await Promise.all([
    bundler.plugin(filename, manifest),
    ...names.map((name) => bundler.thread(join(folder.path, `${name}.ts`), manifest)),
  ]);
  return {
    ...plugin,
    inputs: [...new Set([plugin, ...threads].flatMap(({ inputs }) => inputs))],
    threads: new Map(names.map((name, index) => [name, threads[index]!])),
  };
}
