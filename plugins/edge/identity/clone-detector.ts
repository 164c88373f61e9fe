import type { Clock } from 'svc/sdk';

import type { EdgeRecord } from '../record/record.ts';

const windowMs = 5 * 60_000;
const maxTurns = 3;
const maxStarts = 16;

interface Contest {
  turnsAt: readonly number[];
  /** Machine and boot id of each start, as they came. */
  readonly starts: Set<string>;
  readonly machines: Set<string>;
}

/** Two machines with the keys of one edge take turns, because the newest connection wins. */
export class CloneDetector {
  readonly #clock: Clock;
  readonly #contested = new Map<number, Contest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records that a machine connects as this edge. Returns the machines that compete for it once
   * they alternated too often; undefined for the normal cases: one machine, a restarted one, or one
   * that took over from another.
   */
  connecting(record: EdgeRecord, machine: string, bootId: string): readonly string[] | undefined {
    if (
      record.machine === null ||
      (record.machine === machine && (record.bootId ?? bootId) === bootId)
    ) {
      return undefined;
    }
    const start = `${machine} ${bootId}`;
    const contest = this.#contested.get(record.id) ?? {
      turnsAt: [],
      starts: new Set([`${record.machine} ${record.bootId}`]),
      machines: new Set([record.machine]),
    };
    this.#contested.set(record.id, contest);
    // A rebooted machine has a new start, and no turn; one that returns with an earlier start is a
    // copy of another.
    const isTurn = record.machine !== machine || contest.starts.has(start);
    contest.turnsAt = [
      ...this.#recent(contest.turnsAt),
      ...(isTurn ? [this.#clock.monotonic()] : []),
    ];
    if (contest.starts.size < maxStarts) {
      contest.starts.add(start);
      contest.machines.add(machine);
    }
    if (contest.turnsAt.length <= maxTurns) {
      return undefined;
    }
    this.#contested.delete(record.id);
    return [...contest.machines];
  }

  forget(edgeId: number): void {
    this.#contested.delete(edgeId);
  }

  /** Drops entries that are too old to count. */
  prune(): void {
    for (const [id, { turnsAt }] of this.#contested) {
      if (this.#recent(turnsAt).length === 0) {
        this.#contested.delete(id);
      }
    }
  }

  #recent(turnsAt: readonly number[]): readonly number[] {
    return turnsAt.filter((time) => time > this.#clock.monotonic() - windowMs);
  }
}
