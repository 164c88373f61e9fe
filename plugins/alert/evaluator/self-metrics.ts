import type { PluginContext } from 'svc/sdk';

import type { Ledger } from '../incident/ledger.ts';
import type { EvaluatorCounts } from './evaluator-parts.ts';

/** What the evaluator tells of itself; named after what is counted, never after a rule, of which there are many. */
export function selfMetrics(metrics: PluginContext['metrics']): EvaluatorCounts & { seriesLost(samples: number): void; standing(ledger: Ledger): void } {
  const evaluations = metrics.counter('rule_evaluations_total', 'Evaluations of alert rules.', ['store']);
  const errors = metrics.counter('rule_errors_total', 'Evaluations of alert rules that failed; they keep their state.', ['store']);
  const missed = metrics.counter('rule_missed_total', 'Slots of alert rules that passed without an evaluation.');
  const seconds = metrics.histogram('rule_seconds', 'Time that the queries of one rule took.', [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10], ['store']);
  const incidents = metrics.gauge('incidents', 'Incidents that are not over.', ['status']);
  const instances = metrics.gauge('instances', 'Conditions that are not simply clear.', ['phase']);
  const lost = metrics.counter('series_lost_total', 'Samples of ALERTS and ALERTS_FOR_STATE that could not be stored.');
  // So that nobody takes the first error for the beginning of the counter.
  (['metrics', 'logs'] as const).forEach((store) => errors.add(0, { store }));
  return {
    evaluated(store, ms) {
      evaluations.add(1, { store });
      seconds.observe(ms / 1_000, { store });
    },
    failed: (store) => errors.add(1, { store }),
    missed: (count) => missed.add(count),
    seriesLost: (samples) => lost.add(samples),
    standing(ledger) {
      const statuses = countBy([...ledger.live.values()].map(({ status }) => status));
      for (const status of ['open', 'acknowledged', 'silenced']) {
        incidents.set(statuses.get(status) ?? 0, { status });
      }
      const phases = countBy([...ledger.instances.values()].flatMap((found) => [...found.values()].map(({ phase }) => phase)));
      for (const phase of ['partial', 'pending', 'firing', 'held']) {
        instances.set(phases.get(phase) ?? 0, { phase });
      }
    },
  };
}

function countBy(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
