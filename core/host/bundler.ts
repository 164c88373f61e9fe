import { SvcError } from '../sdk/index.ts';

type Bundler = typeof import('esbuild');

/** Builds come in rows; starting the compiler for each of them would double their time. */
const idleMs = 1_000;

let working = 0;
let idle: NodeJS.Timeout | undefined;

/** Lends the compiler of plugins: a process of its own, as large as an agent, that is gone once there is nothing to compile. */
export async function withBundler<R>(id: string, work: (bundler: Bundler) => Promise<R>): Promise<R> {
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
async function load(id: string): Promise<Bundler> {
  try {
    return await import('esbuild');
  } catch (cause) {
    throw new SvcError('invalid_argument', `${id} is TypeScript source, which this build of svc cannot compile; build it first with "svc plugin build"`, {
      cause,
    });
  }
}
