import { isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';

import type { Bundle } from '../../core/host/index.ts';
import { bringAlong, build, known, leave } from './bundle.ts';
import type { BundleSources } from './esbuild.ts';

/** Modules that the program lends a command: their classes are compared by identity, and it has them anyway. */
export const lentToCommands: ReadonlySet<string> = new Set(['svc/sdk', 'svc/cli']);

/** Bundles an area's command as one CommonJS text, with the libraries and packages that it uses. */
export const bundleCommand = (entry: string, id: string, sources: BundleSources): Promise<Bundle> =>
  known(sources, ['command', resolve(entry), ...[...sources.modules].flat()], async () => {
    const { outputFiles, inputs } = await build(id, {
      entryPoints: [entry],
      absWorkingDir: dirname(resolve(entry)),
      sourcemap: 'inline',
      minifyWhitespace: sources.portable ?? false,
      plugins: [leave((name) => isBuiltin(name) || lentToCommands.has(name)), bringAlong(sources)],
    });
    return { code: outputFiles[0]?.text ?? '', filename: resolve(entry), inputs };
  });
