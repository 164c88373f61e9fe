/** What one cycle came to. */
export interface CycleFigures {
  readonly startedAt: number;
  /** Time that evaluations took, those that ran beside each other counted once each. */
  readonly durationMs: number;
  readonly rulesEvaluated: number;
  readonly rulesFailed: number;
  readonly seriesSeen: number;
  readonly missed: number;
}

const fresh = (startedAt: number): CycleFigures => ({ startedAt, durationMs: 0, rulesEvaluated: 0, rulesFailed: 0, seriesSeen: 0, missed: 0 });

/** Counts what the evaluator does, cycle by cycle. */
export class Pace {
  #running: CycleFigures | undefined;
  #last: CycleFigures | undefined;

  /** The cycle that has ended last; the one that runs as long as none has. */
  get cycle(): CycleFigures | undefined {
    return this.#last ?? this.#running;
  }

  at(now: number, intervalMs: number): void {
    const started = Math.floor(now / intervalMs) * intervalMs;
    if (this.#running?.startedAt !== started) {
      this.#last = this.#running;
      this.#running = fresh(started);
    }
  }

  add(figures: Partial<Omit<CycleFigures, 'startedAt'>>): void {
    const running = this.#running ?? fresh(0);
    const sum = (name: Exclude<keyof CycleFigures, 'startedAt'>): number => running[name] + (figures[name] ?? 0);
    this.#running = {
      startedAt: running.startedAt,
      durationMs: sum('durationMs'),
      rulesEvaluated: sum('rulesEvaluated'),
      rulesFailed: sum('rulesFailed'),
      seriesSeen: sum('seriesSeen'),
      missed: sum('missed'),
    };
  }
}
