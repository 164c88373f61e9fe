import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the text of a thread of core as `npm test` has built it for all its processes; undefined
 * elsewhere, where each process bundles its own.
 */
export function builtThread(name: string): string | undefined {
  const folder = process.env['SVC_TEST_BUILT'];
  const file = folder && join(folder, 'threads', `${name}.cjs`);
  return file && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
