import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { cacheFolders, ownFolder } from '../product/cache-folder.mjs';
import { smallProgram } from '../product/small-program.mjs';

// An import would load all that it re-exports, web cryptography among it, into each agent.
const { createHash } = process.getBuiltinModule('node:crypto');
const fileOf = { svc: 'svc.cjs', edge: 'edge.mjs' };
/** Max caches, of 20 MB each. */
const mostKept = 8;
const sources = ['bin', 'core', 'plugins/lib', 'config', 'package.json', 'package-lock.json'];

/**
 * Compiles the host to a few files of plain JavaScript, again after each change of the sources: it
 * starts in half the time of compiling file by file. Stored next to the packages, or in the user's
 * cache if only others may write there. Undefined if nothing can be written at all: the caller has
 * a slower way.
 */
export async function compiledHost(root, program = 'svc') {
  const name = fingerprint(root);
  const shared = join(root, 'node_modules', '.cache', 'svc');
  for (const home of [shared, ...cacheFolders().map((folder) => join(folder, 'host'))]) {
    const folder = join(home, name);
    const draft = join(home, `draft-${process.pid}`);
    try {
      if (home !== shared) {
        ownFolder(dirname(home));
        ownFolder(home);
      }
      const file = join(folder, fileOf[program]);
      if (existsSync(file)) {
        used(folder);
        return file;
      }
      mkdirSync(draft, { recursive: true });
    } catch {
      // Not ours to write, or to trust: the next one.
      continue;
    }
    await build(root, draft, folder);
    if (home === shared) {
      openToAll(draft);
    } else {
      // External modules resolve as from next to the packages.
      symlinkSync(join(root, 'node_modules'), join(draft, 'node_modules'));
    }
    forget(home, folder);
    place(draft, folder, fileOf[program]);
    return join(folder, fileOf[program]);
  }
  return undefined;
}

/**
 * Returns a fingerprint of every file the host is made of; times and sizes suffice, at a tenth of
 * the cost of reading.
 */
function fingerprint(root) {
  const hash = createHash('sha256').update(process.version);
  const add = (path) => {
    const stat = statSync(path);
    if (stat.isDirectory()) {
      readdirSync(path).forEach((name) => add(join(path, name)));
    } else {
      hash.update(`${path}\0${stat.mtimeMs}\0${stat.size}\0`);
    }
  };
  sources.forEach((name) => add(join(root, name)));
  return hash.digest('hex').slice(0, 16);
}

async function build(root, draft, folder) {
  const esbuild = await import('esbuild');
  // Packages too: a thousand small files cost more to open than one large one to read.
  const common = {
    absWorkingDir: root,
    bundle: true,
    // ssh2 asks for its own folder, which a module has not.
    external: ['better-sqlite3', 'esbuild', 'ssh2'],
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    tsconfig: join(root, 'tsconfig.json'),
  };
  const program = (name, { plugins = [], define, ...options }) =>
    esbuild.build({
      ...common,
      ...options,
      entryPoints: { [name]: join(root, 'bin', `${name}.ts`) },
      outdir: draft,
      sourcemap: true,
      define: { SVC_THREADS: JSON.stringify(folder), ...define },
      plugins: [keepAddresses, ...plugins],
    });
  const commonJs = {
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    banner: { js: requireFrom(root, "require('node:module').createRequire") },
  };
  const modules = {
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    splitting: true,
    banner: {
      js: `import{createRequire as createRequireOfSvc}from'node:module';const ${requireFrom(root, 'createRequireOfSvc')}`,
    },
  };
  await Promise.all([
    // One text, whose compiled form the engine can cache; from there it requires what it would
    // import.
    program('svc', { ...commonJs, minifyWhitespace: true, supported: { 'dynamic-import': false } }),
    // Built separately: in one build with the others it would share their chunks, and load what it
    // does not use.
    program('edge', { ...modules, ...smallProgram }),
    esbuild.build({
      ...common,
      // By name: from several folders esbuild would put each into a folder of its own.
      entryPoints: Object.fromEntries(
        [...threadsBelow(join(root, 'core')), ...threadsBelow(join(root, 'bin'))].map((path) => [
          basename(path, '.ts'),
          path,
        ]),
      ),
      outdir: draft,
      ...commonJs,
    }),
  ]);
  // A process as large as an agent, which would stay as long as this one.
  await esbuild.stop();
}

/**
 * Plugin that keeps `import.meta.url` at the source, so that a module finds the files next to it
 * wherever its code ends up.
 */
const keepAddresses = {
  name: 'keep-addresses',
  setup(build) {
    build.onLoad({ filter: /[\\/](core|bin)[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      return text.includes('import.meta.url')
        ? {
            contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
            loader: 'ts',
          }
        : undefined;
    });
  },
};

/** Programs of threads, each one text of its own. */
const threadsBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory()
      ? threadsBelow(path)
      : entry.name.endsWith('-worker.ts')
        ? [path]
        : [];
  });

/** Code that resolves external modules from the project, not from the cache. */
const requireFrom = (root, create) =>
  `require=${create}(${JSON.stringify(join(root, 'package.json'))});`;

/** Makes a draft readable for every user who runs svc from here, whatever the umask. */
function openToAll(draft) {
  for (const name of readdirSync(draft)) {
    chmodSync(join(draft, name), 0o644);
  }
  [join(draft, '..', '..'), join(draft, '..'), draft]
    .filter(isOurs)
    .forEach((path) => chmodSync(path, 0o755));
}

const isOurs = (path) => statSync(path).uid === process.getuid();

/**
 * Moves the draft to its place. Another start may have been first: its result, made from the same
 * sources, is as good, and may be running already. A folder without `file` is not a result: it was
 * deleted while a svc was running from it, which then wrote to it again.
 */
function place(draft, folder, file) {
  const remains = `${draft}-remains`;
  try {
    if (existsSync(folder) && !existsSync(join(folder, file))) {
      renameSync(folder, remains);
    }
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  rmSync(remains, { recursive: true, force: true });
}

/** Marks the folder as recently used; fails silently for one that belongs to another user. */
function used(folder) {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    return;
  }
}

/** Keeps those few that were used last: a svc that runs may still load commands from the one it was started with. */
function forget(home, folder) {
  const old = readdirSync(home)
    .map((name) => join(home, name))
    .filter((path) => path !== folder && !path.includes('draft-'))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  old.slice(mostKept - 1).forEach((path) => rmSync(path, { recursive: true, force: true }));
}
