import type { Generation } from './generation.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Counts who is inside svc. Short work pins the whole snapshot it entered by, so every service it
 * finds on its way stays up; long work (streams, sockets) holds only the generation that serves it.
 */
export class Leases {
  readonly #pins = new Map<Snapshot, number>();
  readonly #waiters = new Set<() => void>();

  pin(snapshot: Snapshot): void {
    this.#pins.set(snapshot, (this.#pins.get(snapshot) ?? 0) + 1);
  }

  unpin(snapshot: Snapshot): void {
    const left = (this.#pins.get(snapshot) ?? 0) - 1;
    if (left > 0) {
      this.#pins.set(snapshot, left);
      return;
    }
    this.#pins.delete(snapshot);
    this.#wake();
  }

  hold(generation: Generation): void {
    generation.holds += 1;
  }

  release(generation: Generation): void {
    generation.holds -= 1;
    if (generation.holds === 0) {
      this.#wake();
    }
  }

  /** Uses of a generation that is no longer in the current snapshot. */
  users(generation: Generation): number {
    let users = generation.holds;
    for (const [snapshot, pins] of this.#pins) {
      if (snapshot.holds(generation)) {
        users += pins;
      }
    }
    return users;
  }

  /** Resolves true when nobody uses `generation` any more, false when `deadlineMs` passed first. */
  idle(generation: Generation, deadlineMs: number): Promise<boolean> {
    if (this.users(generation) === 0) {
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (idle: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve(idle);
      };
      const look = (): void => {
        if (this.users(generation) === 0) {
          settle(true);
        }
      };
      const timer = setTimeout(() => settle(false), deadlineMs);
      this.#waiters.add(look);
    });
  }

  /** Pinned snapshots and waiting retirements, for the leak tests. */
  get size(): number {
    return this.#pins.size + this.#waiters.size;
  }

  #wake(): void {
    for (const look of [...this.#waiters]) {
      look();
    }
  }
}
