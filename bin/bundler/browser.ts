import { join, posix, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import type { BuildOptions, OutputFile, Plugin } from 'esbuild';

import type { BundleSources } from './esbuild.ts';

/**
 * Result of `import page from 'browser:./web/main.tsx'` in a plugin: files for a browser, with
 * names derived from their content.
 */
interface BrowserAssets {
  readonly entry: string;
  /** The style sheet of the entry, if it imports any. */
  readonly style: string | undefined;
  readonly files: readonly BrowserFile[];
}

/** Compressed file in base64: a browser that accepts neither encoding does not occur. */
interface BrowserFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzip: string;
  readonly brotli: string;
}

const scheme = 'browser:';

/** Options for reading browser code, whatever is in the folder of the plugin. */
const languages: BuildOptions = {
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox121', 'safari17.5'],
  tsconfigRaw: {
    compilerOptions: { target: 'ES2023', jsx: 'react-jsx', jsxImportSource: 'preact' },
  },
  loader: { '.svg': 'text' },
};

/** Makes a plugin's part for browsers while the plugin itself is bundled; what went into it is added to `inputs`. */
export const forBrowsers = ({ root, portable }: BundleSources, inputs: Set<string>): Plugin => ({
  name: 'for-browsers',
  setup(builder) {
    builder.onResolve({ filter: /^browser:/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(scheme.length)),
      namespace: 'browser',
    }));
    builder.onLoad({ filter: /./, namespace: 'browser' }, async ({ path }) => {
      const { outputFiles, metafile, errors } = await builder.esbuild.build({
        ...languages,
        entryPoints: [path],
        absWorkingDir: root,
        bundle: true,
        splitting: true,
        minify: true,
        write: false,
        metafile: true,
        outdir: '/',
        entryNames: '[name]-[hash]',
        chunkNames: '[name]-[hash]',
        legalComments: 'none',
        logLevel: 'silent',
        plugins: [packagesOf(root)],
      });
      Object.keys(metafile.inputs).forEach((name) => inputs.add(resolve(root, name)));
      const entry = Object.entries(metafile.outputs).find(
        ([, { entryPoint }]) => entryPoint !== undefined && resolve(root, entryPoint) === path,
      )!;
      const nameOf = (output: string): string => posix.basename(output);
      const assets: BrowserAssets = {
        entry: nameOf(entry[0]),
        style: entry[1].cssBundle === undefined ? undefined : nameOf(entry[1].cssBundle),
        files: await Promise.all(outputFiles.map((file) => packed(file, portable ?? false))),
      };
      return { contents: JSON.stringify(assets), loader: 'json', errors };
    });
  },
});

/** Plugin that resolves packages within the installation, wherever the plugin is. */
const packagesOf = (root: string): Plugin => ({
  name: 'packages',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData }) =>
      pluginData === 'asked'
        ? undefined
        : await builder.resolve(path, { kind, resolveDir: join(root, 'bin'), pluginData: 'asked' }),
    );
  },
});

/** Compresses a file; thoroughly if it is done once for many machines. */
async function packed({ path, contents }: OutputFile, patient: boolean): Promise<BrowserFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: patient ? 11 : 6 };
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(contents, { level: 9 }),
    promisify(brotliCompress)(contents, { params }),
  ]);
  return {
    name: posix.basename(path),
    bytes: contents.length,
    gzip: zipped.toString('base64'),
    brotli: brotli.toString('base64'),
  };
}
