import type { Clock } from 'svc/sdk';

import type { EdgeRecord } from '../record.ts';

/** Two machines with the keys of one edge take turns, because the newest connection wins. */
export interface Rivalry {
  /**
   * A machine wants to serve as this edge. Returns the machines that fight over it once they took turns too often, and nothing while
   * all is as it should be: one machine, one that was started anew, or one that took over from another.
   */
  note(record: EdgeRecord, machine: string, bootId: string): readonly string[] | undefined;
  forget(edgeId: number): void;
  /** Lets go of what is too old to count. */
  prune(): void;
}

const windowMs = 5 * 60_000;
const mostTurns = 3;
const mostFaces = 16;

interface Turns {
  at: readonly number[];
  /** Machine and start of it, as they came. */
  readonly faces: Set<string>;
  readonly machines: Set<string>;
}

export function createRivalry(clock: Clock): Rivalry {
  const contested = new Map<number, Turns>();
  const recent = (at: readonly number[]): readonly number[] => at.filter((time) => time > clock.monotonic() - windowMs);

  return {
    note(record, machine, bootId) {
      if (record.machine === null || (record.machine === machine && (record.bootId ?? bootId) === bootId)) {
        return undefined;
      }
      const face = `${machine} ${bootId}`;
      const turns = contested.get(record.id) ?? { at: [], faces: new Set([`${record.machine} ${record.bootId}`]), machines: new Set([record.machine]) };
      contested.set(record.id, turns);
      // A machine that starts anew is a new face, and not a turn; one that comes back as it was before is a copy of another.
      const isTurn = record.machine !== machine || turns.faces.has(face);
      turns.at = [...recent(turns.at), ...(isTurn ? [clock.monotonic()] : [])];
      if (turns.faces.size < mostFaces) {
        turns.faces.add(face);
        turns.machines.add(machine);
      }
      if (turns.at.length <= mostTurns) {
        return undefined;
      }
      contested.delete(record.id);
      return [...turns.machines];
    },
    forget: (edgeId) => void contested.delete(edgeId),
    prune() {
      for (const [id, { at }] of contested) {
        if (recent(at).length === 0) {
          contested.delete(id);
        }
      }
    },
  };
}
