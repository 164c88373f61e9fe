import type { Clock, PluginContext } from 'svc/sdk';

import type { Ledger } from '../incident/ledger/ledger.ts';
import type { StoreName } from '../queries/back-end.ts';

/** Figures of one evaluation cycle. */
export interface CycleFigures {
  readonly startedAt: number;
  /** Time during which rules were evaluated, several at once or one. */
  readonly durationMs: number;
  readonly rulesEvaluated: number;
  readonly rulesFailed: number;
  readonly seriesSeen: number;
  readonly missed: number;
}

const freshCycle = (startedAt: number): CycleFigures => ({
  startedAt,
  durationMs: 0,
  rulesEvaluated: 0,
  rulesFailed: 0,
  seriesSeen: 0,
  missed: 0,
});

type Instruments = Pick<PluginContext['metrics'], 'counter' | 'gauge' | 'histogram'>;

/**
 * Counts the evaluator's work as self metrics and per cycle. Metrics are named after what is
 * counted, never after a rule, since rules are many.
 */
export class EvaluatorCounters {
  readonly #evaluations;
  readonly #errors;
  readonly #missed;
  readonly #seconds;
  readonly #incidents;
  readonly #instances;
  readonly #seriesLost;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #atWork = 0;
  #since = 0;
  #running: CycleFigures | undefined;
  #last: CycleFigures | undefined;

  constructor(metrics: Instruments, clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#evaluations = metrics.counter('rule_evaluations_total', 'Evaluations of alert rules.', [
      'store',
    ]);
    this.#errors = metrics.counter(
      'rule_errors_total',
      'Evaluations of alert rules that failed; the rules keep their state.',
      ['store'],
    );
    this.#missed = metrics.counter(
      'rule_missed_total',
      'Slots of alert rules that passed without an evaluation.',
    );
    this.#seconds = metrics.histogram(
      'rule_seconds',
      'Time that the queries of one rule took.',
      [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
      ['store'],
    );
    this.#incidents = metrics.gauge('incidents', 'Incidents that are not over.', ['status']);
    this.#instances = metrics.gauge('instances', 'Conditions that are not simply clear.', [
      'phase',
    ]);
    this.#seriesLost = metrics.counter(
      'series_lost_total',
      'Samples of ALERTS and ALERTS_FOR_STATE that could not be stored.',
    );
    // So that the first error is not taken for the beginning of the counter.
    (['metrics', 'logs'] as const).forEach((store) => this.#errors.add(0, { store }));
  }

  /** The cycle that has ended last; the one that runs as long as none has. */
  get cycle(): CycleFigures | undefined {
    return this.#last ?? this.#running;
  }

  beginCycle(now: number, intervalMs: number): void {
    const started = Math.floor(now / intervalMs) * intervalMs;
    if (this.#running?.startedAt !== started) {
      if (this.#running !== undefined) {
        this.#countTime();
      }
      this.#last = this.#running;
      this.#running = freshCycle(started);
    }
  }

  /** Counts `work` as evaluation until it has ended. */
  async during(work: Promise<unknown>): Promise<void> {
    this.#countTime();
    this.#atWork += 1;
    try {
      await work;
    } finally {
      this.#countTime();
      this.#atWork -= 1;
    }
  }

  #countTime(): void {
    const now = this.#clock.monotonic();
    this.#add({ durationMs: this.#atWork > 0 ? now - this.#since : 0 });
    this.#since = now;
  }

  evaluated(store: StoreName | 'self', ms: number, series: number): void {
    this.#time(store, ms);
    this.#add({ rulesEvaluated: 1, seriesSeen: series });
  }

  failed(store: StoreName, ms: number): void {
    this.#time(store, ms);
    this.#errors.add(1, { store });
    this.#add({ rulesEvaluated: 1, rulesFailed: 1 });
  }

  missed(slots: number): void {
    this.#missed.add(slots);
    this.#add({ missed: slots });
  }

  seriesLost(samples: number): void {
    this.#seriesLost.add(samples);
  }

  /** Records how many incidents and conditions there are in each state. */
  measure(ledger: Ledger): void {
    const statuses = countBy([...ledger.live.values()].map(({ status }) => status));
    for (const status of ['open', 'acknowledged', 'silenced']) {
      this.#incidents.set(statuses.get(status) ?? 0, { status });
    }
    const phases = countBy(
      [...ledger.instances.values()].flatMap((found) =>
        [...found.values()].map(({ phase }) => phase),
      ),
    );
    for (const phase of ['partial', 'pending', 'firing', 'held']) {
      this.#instances.set(phases.get(phase) ?? 0, { phase });
    }
  }

  #time(store: StoreName | 'self', ms: number): void {
    this.#evaluations.add(1, { store });
    this.#seconds.observe(ms / 1_000, { store });
  }

  #add(figures: Partial<Omit<CycleFigures, 'startedAt'>>): void {
    const running = this.#running ?? freshCycle(0);
    const sum = (name: Exclude<keyof CycleFigures, 'startedAt'>): number =>
      running[name] + (figures[name] ?? 0);
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

function countBy(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
