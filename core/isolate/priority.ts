import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Where cores are scarce the thread that answers requests goes first (docs/adr/0019). Only Linux has a priority for each thread, on
 * others it would be that of the whole process; stepping back needs no right, and cannot be taken back without one.
 *
 * The same for all that stand back: some hold locks of node for a moment, for which the first then waits until they had a core.
 */
const niceness = 10;
const tasks = '/proc/self/task';

const lowered = (): number => Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness);

/** Lets this thread stand back behind the one that answers requests. */
export function standBack(): void {
  if (process.platform === 'linux') {
    setPriority(lowered());
  }
}

/**
 * Called on the first thread before any work is begun: notes the other threads there are, which are those of node that compile,
 * collect garbage and wait for files. They stand back when the function is called that this resolves with: a start needs them all.
 */
export async function standInFront(): Promise<() => void> {
  if (process.platform !== 'linux') {
    return () => undefined;
  }
  // Asked for in a way that starts node's pool for files, if nobody has yet: it must not be missed.
  const helpers = new Set(await readdir(tasks));
  helpers.delete(String(process.pid));
  return () => {
    for (const thread of readdirSync(tasks).filter((one) => helpers.has(one))) {
      setPriority(Number(thread), lowered());
    }
  };
}
