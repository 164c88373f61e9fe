import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import type { BuildOptions, Plugin } from 'esbuild';

import { withBundler } from '../../bundler/esbuild.ts';

/**
 * Code that limits `require` to built-in modules: optional packages are requested by name at run
 * time, and those not in the binary must be absent rather than found next to it.
 */
const builtinsOnly =
  'require=(r=>{const{isBuiltin}=r("node:module");return id=>{if(isBuiltin(id))return r(id);' +
  'const e=new Error("Cannot find module \'"+id+"\'");e.code="MODULE_NOT_FOUND";throw e}})(require);';

/** Bundles a program and everything it imports as one CommonJS text. */
export async function programText(
  entry: string,
  root: string,
  { define, plugins = [] }: Pick<BuildOptions, 'define' | 'plugins'> = {},
): Promise<string> {
  const options = {
    entryPoints: [join(root, entry)],
    absWorkingDir: root,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Names stay: stacks are read by people.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'error',
    // The compiler of plugins is a program of its own; in the binary they come compiled.
    external: ['esbuild'],
    loader: { '.node': 'empty' },
    define: {
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
      ...define,
    },
    tsconfigRaw: { compilerOptions: { target: 'ES2023', experimentalDecorators: true } },
    banner: { js: builtinsOnly },
    inject: [join(root, 'bin/product/address.ts')],
    plugins: [addresses(root), ...plugins],
  } as const satisfies BuildOptions;
  const { outputFiles } = await withBundler(entry, ({ build }) => build(options));
  return outputFiles[0]!.text;
}

/**
 * Plugin that replaces `import.meta`, which CommonJS lacks, by the address where a module's files
 * are unpacked.
 */
const addresses = (root: string): Plugin => ({
  name: 'addresses',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return {
        loader: 'ts',
        contents: text.replaceAll(
          'import.meta.url',
          `addressOf(${JSON.stringify(relative(root, path))})`,
        ),
      };
    });
  },
});
