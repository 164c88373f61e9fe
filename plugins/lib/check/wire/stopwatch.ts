import type { Phase, Phases, Place } from '../model/check.ts';

/** Time of one probe, split into phases. */
export class Stopwatch {
  readonly #now: () => number;
  readonly #began: number;
  readonly #phases: Partial<Record<Phase, number>> = {};
  #mark: number;

  constructor({ monotonic }: Pick<Place, 'monotonic'>) {
    this.#now = monotonic;
    this.#began = monotonic();
    this.#mark = this.#began;
  }

  /** Ends a phase that began with the end of the last one. */
  end(phase: Phase): void {
    const now = this.#now();
    this.#phases[phase] = (this.#phases[phase] ?? 0) + now - this.#mark;
    this.#mark = now;
  }

  get tookMs(): number {
    return this.#now() - this.#began;
  }

  get phases(): Phases {
    return { ...this.#phases };
  }
}
