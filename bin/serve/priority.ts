import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setPriority } from 'node:os';

import { lowered } from '../../core/isolate/index.ts';

const tasks = '/proc/self/task';

/**
 * Records the other existing threads, which are Node's own for compiling, garbage collection and
 * files; call it on the first thread before any work. Resolves with a function that lowers their
 * priority: a start needs them all.
 */
export async function standInFront(): Promise<() => void> {
  if (process.platform !== 'linux') {
    return () => undefined;
  }
  // Read in a way that starts node's pool for files, if nothing has yet: it must not be missed.
  const helpers = new Set(await readdir(tasks));
  helpers.delete(String(process.pid));
  return () => {
    for (const thread of readdirSync(tasks).filter((one) => helpers.has(one))) {
      setPriority(Number(thread), lowered());
    }
  };
}
