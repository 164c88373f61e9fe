// Compiles the tests to plain JavaScript for each run: reading product and tests through a loader
// costs each process over a second, this a fifth of one.
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Builds these files, paths from `root`, and the programs that tests start into `folder`; returns
 * where each file went. Shared code is shared there as well.
 */
export async function buildTests(root, files, folder) {
  await built(root, [...files, ...programs(root)], { outdir: folder, plugins: [keepAddresses] });
  await buildThreads(root, join(folder, 'threads'));
  // External modules resolve as from next to the packages.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return new Map(files.map((file) => [file, join(folder, file.replace(/\.ts$/, '.mjs'))]));
}

/**
 * Returns, for each of these files, the project's files that its code comes from, including itself.
 */
export async function sourceGraph(root, files) {
  const { metafile } = await built(root, files, { write: false, metafile: true, outdir: root });
  return new Map(files.map((file) => [file, reached(file, metafile.inputs)]));
}

/**
 * Builds the threads of core, each as one text that is evaluated, so that its packages are looked
 * up from the project.
 */
async function buildThreads(root, outdir) {
  const threads = filesBelow(root, 'core').filter((file) => file.endsWith('-worker.ts'));
  const home = JSON.stringify(join(root, 'package.json'));
  await built(root, threads, {
    outdir,
    outbase: undefined,
    entryNames: '[name]',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    splitting: false,
    packages: 'external',
    sourcemap: 'inline',
    banner: {
      js: `process.setSourceMapsEnabled(true);globalThis.require=require('node:module').createRequire(${home});`,
    },
  });
}

function programs(root) {
  return filesBelow(root, 'test').filter(
    (file) => file.endsWith('-child.ts') && !file.startsWith('test/bench/'),
  );
}

/** Paths from `root` of all that is in one of its folders, which need not exist. */
function filesBelow(root, name) {
  const folder = join(root, name);
  return (existsSync(folder) ? readdirSync(folder, { recursive: true }) : []).map((file) =>
    join(name, file),
  );
}

function reached(file, inputs) {
  const found = new Set([file]);
  for (const path of found) {
    for (const { path: next, external } of inputs[path]?.imports ?? []) {
      if (!external && !next.startsWith('node_modules/')) {
        found.add(next);
      }
    }
  }
  return found;
}

async function built(root, files, options) {
  const esbuild = await import('esbuild');
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  // Has its effect before all else: texts that share their parts lose the order of imports.
  const first = Object.keys(dependencies).filter((name) => name === 'reflect-metadata');
  const tsconfig = join(root, 'tsconfig.json');
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    tsconfigRaw: existsSync(tsconfig) ? readFileSync(tsconfig, 'utf8') : '{}',
    // Addons, packages that look for their own files, browser code, and what only tests use: few
    // tests need each.
    external: [
      ...['better-sqlite3', 'esbuild', 'ssh2', 'tsx', 'browser:*'],
      ...first,
      ...Object.keys(devDependencies),
    ],
    banner: {
      js: `${first.map((name) => `import'${name}';`).join('')}import{createRequire as createRequireOfSvc}from'node:module';const require=createRequireOfSvc(${JSON.stringify(join(root, 'package.json'))});`,
    },
    ...options,
  });
  // A process as large as an agent, which would stay as long as this one.
  await esbuild.stop();
  return result;
}

/**
 * Plugin that keeps `import.meta.url` at the source, so that a module finds the files next to it
 * wherever its code ends up.
 */
const keepAddresses = {
  name: 'keep-addresses',
  setup(build) {
    const { transform } = build.esbuild;
    const { absWorkingDir: root, tsconfigRaw } = build.initialOptions;
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (relative(root, path).startsWith('node_modules')) {
        return undefined;
      }
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.')) {
        return undefined;
      }
      const { code } = await transform(text, {
        loader: 'ts',
        target: 'node20',
        sourcefile: path,
        sourcemap: 'inline',
        sourcesContent: false,
        tsconfigRaw,
        define: {
          'import.meta.url': JSON.stringify(pathToFileURL(path).href),
          'import.meta.filename': JSON.stringify(path),
          'import.meta.dirname': JSON.stringify(dirname(path)),
        },
      });
      return { contents: code, loader: 'js' };
    });
  },
};
