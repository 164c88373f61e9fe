import { constants, getPriority, setPriority } from 'node:os';

/**
 * Where cores are scarce the thread that answers requests goes first (docs/adr/0019). Only Linux has a priority for each thread, on
 * others it would be that of the whole process; stepping back needs no right, and cannot be taken back without one.
 *
 * The same for all that stand back: some hold locks of node for a moment, for which the first then waits until they had a core.
 */
const niceness = 10;

export const lowered = (): number =>
  Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness);

/** Lets this thread stand back behind the one that answers requests. */
export function standBack(): void {
  if (process.platform === 'linux') {
    setPriority(lowered());
  }
}
