import { errors } from './errors.ts';

type Esbuild = typeof import('esbuild');

/** Sources of bundles, provided by whoever knows the installation. */
export interface BundleSources {
  /** Names of the modules that stay imports of a plugin, since the host lends them. */
  readonly lent: ReadonlySet<string>;
  /**
   * Modules of the product that are bundled unless they are shared, as none are with a thread: name
   * → file.
   */
  readonly modules: ReadonlyMap<string, string>;
  /** The installation: packages are found there also by plugins that lie elsewhere. */
  readonly root: string;
  /** Makes a bundle for an installation elsewhere, whose text must not reveal where it was made. */
  readonly portable?: boolean;
  /**
   * Cache folders; the first writable one keeps bundles of plugins below `root`, by their content.
   * Without one nothing is cached.
   */
  readonly cacheDirs?: readonly string[];
}

/** Builds come in rows; starting the compiler for each of them would double their time. */
const idleMs = 1_000;

let working = 0;
let idle: NodeJS.Timeout | undefined;

/** Lends the compiler of plugins: a process of its own, as large as an agent, that is gone once there is nothing to compile. */
export async function withBundler<R>(
  id: string,
  work: (bundler: Esbuild) => Promise<R>,
): Promise<R> {
  const bundler = await load(id);
  clearTimeout(idle);
  working++;
  try {
    return await work(bundler);
  } finally {
    working--;
    if (working === 0) {
      idle = setTimeout(() => void bundler.stop(), idleMs).unref();
    }
  }
}

/** The single binary carries no bundler: there a plugin must come prebuilt. */
async function load(id: string): Promise<Esbuild> {
  try {
    return await import('esbuild');
  } catch (cause) {
    throw errors.no_compiler({ id }, { cause });
  }
}
