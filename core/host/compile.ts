import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';

import type { BuildFailure, Message, Plugin } from 'esbuild';

import { type PluginManifest, SvcError } from '../sdk/index.ts';
import type { PluginFolder } from './folder.ts';

export interface Compiled {
  readonly code: string;
  /** Name that stacks show. */
  readonly filename: string;
  /** Files whose change means a new generation. */
  readonly inputs: readonly string[];
}

/** One CommonJS text for a plugin's entry: read as it is when prebuilt, bundled from source otherwise. */
export async function compile(folder: PluginFolder, manifest: PluginManifest & { entry: string }, shared: ReadonlySet<string>): Promise<Compiled> {
  const filename = join(folder.path, manifest.entry);
  if (manifest.entry.endsWith('.cjs')) {
    const text = folder.read(manifest.entry);
    if (!text) {
      throw missingEntry(manifest);
    }
    return { code: text.toString('utf8'), filename, inputs: [filename] };
  }
  if (!folder.read(manifest.entry)) {
    throw missingEntry(manifest);
  }
  return await bundle(filename, manifest.id, shared);
}

/** The bundler alone: also what `svc plugin build` writes to disk. */
export async function bundle(entry: string, id: string, shared: ReadonlySet<string>): Promise<Compiled> {
  const esbuild = await loadBundler(id);
  const root = dirname(resolve(entry));
  try {
    const result = await esbuild.build({
      entryPoints: [entry],
      absWorkingDir: root,
      bundle: true,
      write: false,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      sourcesContent: false,
      metafile: true,
      logLevel: 'silent',
      // Without this esbuild would look for a tsconfig beside the plugin, wherever that is.
      tsconfigRaw: { compilerOptions: { target: 'ES2023' } },
      plugins: [leaveShared(shared)],
    });
    const inputs = Object.keys(result.metafile.inputs).map((name) => resolve(root, name));
    return { code: result.outputFiles[0]?.text ?? '', filename: resolve(entry), inputs };
  } catch (error) {
    throw new SvcError(
      'invalid_argument',
      `${id} does not compile: ${((error as BuildFailure).errors ?? []).slice(0, 3).map(located).join('; ') || String(error)}`,
    );
  }
}

/** Node's own modules and the host's shared ones stay imports; everything else goes into the bundle. */
const leaveShared = (shared: ReadonlySet<string>): Plugin => ({
  name: 'leave-shared',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) => (isBuiltin(path) || shared.has(path) ? { path, external: true } : undefined));
  },
});

/** The single binary carries no bundler: there a plugin must come prebuilt. */
async function loadBundler(id: string): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild');
  } catch (cause) {
    throw new SvcError('invalid_argument', `${id} is TypeScript source, which this build of svc cannot compile; build it first with "svc plugin build"`, {
      cause,
    });
  }
}

const located = (message: Message): string =>
  message.location ? `${message.location.file}:${message.location.line}:${message.location.column} ${message.text}` : message.text;

const missingEntry = (manifest: PluginManifest): SvcError =>
  new SvcError('invalid_argument', `${manifest.id}: plugin.json names the entry "${manifest.entry}", which is not in the folder`);
