import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Arguments of node that run a source file as a program: as `npm test` has built it, through a loader elsewhere. */
export function programOf(file: string): readonly string[] {
  const folder = process.env['SVC_TEST_BUILT'];
  const built = folder && join(folder, relative(root, file).replace(/\.ts$/, '.mjs'));
  return built && existsSync(built) ? ['--enable-source-maps', built] : ['--import', 'tsx', file];
}
