import type { Asker } from './asker.ts';

export interface TurnTimes {
  /** Milliseconds that never jump. */
  readonly arrivedAt: number;
  readonly timeoutMs: number;
}

/** One query on its way, from its arrival to its end, with the time that it really computes. */
export class QueryTurn {
  readonly asker: Asker;
  readonly signal: AbortSignal;
  readonly arrivedAt: number;
  readonly timeoutMs: number;
  #sliceAt = 0;
  #doneMs = 0;

  constructor(asker: Asker, signal: AbortSignal, { arrivedAt, timeoutMs }: TurnTimes) {
    this.asker = asker;
    this.signal = signal;
    this.arrivedAt = arrivedAt;
    this.timeoutMs = timeoutMs;
  }

  get deadline(): number {
    return this.arrivedAt + this.timeoutMs;
  }

  /** When the slice began that it computes in. */
  get sliceAt(): number {
    return this.#sliceAt;
  }

  /** Computing time of slices that have ended. */
  get computedMs(): number {
    return this.#doneMs;
  }

  isOver(now: number): boolean {
    return this.signal.aborted || now >= this.deadline;
  }

  begin(now: number): void {
    this.#sliceAt = now;
  }

  pause(now: number): void {
    const ms = now - this.#sliceAt;
    this.#sliceAt = now;
    this.#doneMs += ms;
    this.asker.charge(ms, now);
  }
}
