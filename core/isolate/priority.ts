import { constants, getPriority, setPriority } from 'node:os';

/**
 * Niceness of background threads, so that the thread that answers requests goes first if cores are
 * scarce (docs/adr/0019). Only Linux has a priority for each thread, elsewhere it would be that of
 * the whole process; lowering it needs no privilege, and cannot be undone without one.
 *
 * The same for all of them: some hold locks of node for a moment, for which the first would then
 * wait until they got a core.
 */
const niceness = 10;

export const lowered = (): number =>
  Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness);

/** Lowers the priority of this thread below that of the one that answers requests. */
export function standBack(): void {
  if (process.platform === 'linux') {
    setPriority(lowered());
  }
}
