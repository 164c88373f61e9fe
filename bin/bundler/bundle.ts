import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

import type { BuildFailure, BuildOptions, Message, OutputFile, Plugin } from 'esbuild';

import type { Bundle } from '../../core/host/index.ts';
import { isSvcError } from '../../core/sdk/index.ts';
import { forBrowsers } from './browser.ts';
import { cachedBundle, keepBundle } from './bundle-cache.ts';
import { errors } from './errors.ts';
import { type BundleSources, withBundler } from './esbuild.ts';

/**
 * Bundles a plugin's code as one CommonJS text; Node's own modules and the shared ones stay
 * imports.
 */
export const bundlePlugin = (entry: string, id: string, sources: BundleSources): Promise<Bundle> =>
  known(
    sources,
    ['plugin', resolve(entry), ...sources.lent, ...[...sources.modules].flat()],
    async () => {
      const folder = dirname(resolve(entry));
      const browserInputs = new Set<string>();
      const plugins = [
        leave((name) => isBuiltin(name) || sources.lent.has(name)),
        forBrowsers(sources, browserInputs),
        bringAlong(sources),
      ];
      const { outputFiles, inputs } = await build(id, {
        entryPoints: [entry],
        absWorkingDir: folder,
        sourcemap: 'inline',
        minifyWhitespace: sources.portable ?? false,
        plugins,
      });
      return {
        code: outputFiles[0]?.text ?? '',
        filename: resolve(entry),
        inputs: [...inputs, ...browserInputs],
      };
    },
  );

/**
 * Bundles a worker file as one CommonJS text with everything except Node's own modules and the
 * database's addon.
 */
export const bundleThread = (entry: string, id: string, sources: BundleSources): Promise<Bundle> =>
  known(sources, ['thread', resolve(entry), ...[...sources.modules].flat()], async () => {
    const outfile = join(dirname(resolve(entry)), 'thread.cjs');
    const { outputFiles, inputs } = await build(id, {
      entryPoints: [resolve(entry)],
      absWorkingDir: sources.root,
      outfile,
      sourcemap: 'external',
      minifyWhitespace: true,
      legalComments: 'none',
      plugins: [bringAlong(sources)],
    });
    const [map, text] = ['.map', '.cjs'].map(
      (ending) => outputFiles.find(({ path }) => path.endsWith(ending))!.text,
    ) as [string, string];
    return {
      code: text + inlineMap(map, dirname(outfile), sources),
      filename: resolve(entry),
      inputs,
    };
  });

export async function known(
  sources: BundleSources,
  names: readonly string[],
  make: () => Promise<Bundle>,
): Promise<Bundle> {
  const key = names.join('\0');
  const kept = cachedBundle(sources, key);
  if (kept) {
    return { ...kept, filename: names[1]! };
  }
  const began = Date.now();
  const made = await make();
  keepBundle(sources, key, made, began);
  return made;
}

export async function build(
  id: string,
  options: BuildOptions,
): Promise<{ outputFiles: readonly OutputFile[]; inputs: readonly string[] }> {
  try {
    const { metafile, outputFiles } = await withBundler(id, (esbuild) =>
      esbuild.build({
        ...options,
        bundle: true,
        write: false,
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        sourcesContent: false,
        metafile: true,
        logLevel: 'silent',
        // Without this esbuild would look for a tsconfig beside the plugin, wherever that is.
        tsconfigRaw: { compilerOptions: { target: 'ES2023' } },
      }),
    );
    return {
      outputFiles,
      inputs: Object.keys(metafile.inputs)
        .filter(isFile)
        .map((name) => resolve(options.absWorkingDir!, name)),
    };
  } catch (error) {
    if (isSvcError(error)) {
      throw error;
    }
    throw errors.compile({
      id,
      list:
        ((error as BuildFailure).errors ?? []).slice(0, 3).map(located).join('; ') || String(error),
    });
  }
}

/** Sources are named as seen from the plugin; in a portable text those of the installation by their place in it. */
function inlineMap(text: string, folder: string, { root, portable }: BundleSources): string {
  const map = JSON.parse(text) as { sources: string[] };
  if (portable) {
    map.sources = map.sources.map((source) =>
      source.startsWith('..') ? `svc/${relative(root, resolve(folder, source))}` : source,
    );
  }
  return `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`;
}

/** Returns whether an input is a file, rather than virtual. */
const isFile = (name: string): boolean => !name.startsWith('browser:');

export const leave = (external: (name: string) => boolean): Plugin => ({
  name: 'leave',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      external(path) ? { path, external: true } : undefined,
    );
  },
});

/** Packages that no plugin is lent and one may bring along: they are part of its text. */
const brought: ReadonlySet<string> = new Set(['unpdf', 'marked']);

export const bringAlong = ({ lent, modules, root }: BundleSources): Plugin => ({
  name: 'bring-along',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData }) => {
      if (isBuiltin(path) || path === 'better-sqlite3') {
        return { path, external: true };
      }
      const module = modules.get(path);
      if (module !== undefined) {
        return { path: module };
      }
      // The packages that plugins may use lie in the installation, wherever the plugin lies.
      return (lent.has(path) || brought.has(path)) && pluginData !== 'asked'
        ? await builder.resolve(path, { kind, resolveDir: root, pluginData: 'asked' })
        : undefined;
    });
  },
});

const located = (message: Message): string =>
  message.location
    ? `${message.location.file}:${message.location.line}:${message.location.column} ${message.text}`
    : message.text;
