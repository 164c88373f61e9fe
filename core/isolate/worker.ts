import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type ResourceLimits, Worker } from 'node:worker_threads';

interface WorkerStart {
  /** Absolute path of the TypeScript file that runs in the thread. */
  readonly entry: string;
  readonly workerData?: unknown;
  readonly resourceLimits?: ResourceLimits;
  /** Entry as one CommonJS text, if it was bundled ahead (single binary). */
  readonly text?: string;
}

/** A thread of the host's own code: the same source runs from the tree and from the single binary. */
export function startWorker({ entry, workerData, resourceLimits, text }: WorkerStart): Worker {
  return new Worker(text ?? bundled(entry), {
    eval: true,
    workerData,
    // Flags of the parent, such as a TypeScript loader, would only slow the thread's start.
    execArgv: [],
    ...(resourceLimits && { resourceLimits }),
  });
}

const texts = new Map<string, string>();

function bundled(entry: string): string {
  const known = texts.get(entry);
  if (known !== undefined) {
    return known;
  }
  // Asked for here and not above: the single binary has no esbuild.
  const esbuild = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles } = esbuild.buildSync({
    entryPoints: [entry],
    absWorkingDir: dirname(entry),
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    packages: 'external',
    sourcemap: 'inline',
  });
  const text = asModule(entry, outputFiles[0]!.text);
  texts.set(entry, text);
  return text;
}

/** An evaluated text has neither folder nor lines of its own; as the module `entry` it finds packages, and errors name the source. */
function asModule(entry: string, code: string): string {
  const [file, folder, text] = [entry, dirname(entry), code].map((value) => JSON.stringify(value));
  return `process.setSourceMapsEnabled(true);
const Module = require('node:module');
const module_ = new Module(${file});
module_.filename = ${file};
module_.paths = Module._nodeModulePaths(${folder});
module_._compile(${text}, ${file});`;
}
