import { defineService, type Handle, messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import type { MetricsIngest as MetricsIngestContract } from '../metricsdb/contract.ts';
import type { SpanMetricsNotice } from './thread-contract.ts';

/** By its name alone: without the folder of metricsdb this room works, and writes no metrics. */
const MetricsIngest = defineService<Pick<MetricsIngestContract, 'push'>>('metrics.ingest');

const mostWaiting = 4;

/** Pushes what the thread counts of spans to where metrics are kept, while there is such a place. Counters grow: a batch that is lost is made up for by the next. */
export function relaySpanMetrics({ services, metrics, scope, log }: PluginContext, thread: ThreadHandle): void {
  const store: Handle<Pick<MetricsIngestContract, 'push'>> = services.maybe(MetricsIngest);
  const lost = metrics.counter('span_metric_rows_lost_total', 'Samples of span metrics that could not be written.');
  const waiting: SpanMetricsNotice[] = [];
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    for (let next = waiting.shift(); next !== undefined && store.available; next = waiting.shift()) {
      for (const { body, rows } of next) {
        try {
          await store.get().push('remote-write', body, { given: true });
        } catch (error) {
          lost.add(rows);
          log.warn(
            { event: 'traces.span_metrics_lost', cause: messageOf(error), rows },
            'could not write span metrics; the counters of the next batch include them',
          );
        }
      }
    }
    writing = false;
  }

  const stop = thread.onNotice(({ kind, value }) => {
    if (kind !== 'span-metrics' || !store.available) {
      return;
    }
    waiting.push(value as SpanMetricsNotice);
    if (waiting.length > mostWaiting) {
      waiting.shift()!.forEach(({ rows }) => lost.add(rows));
    }
    if (!writing) {
      void write();
    }
  });
  scope.defer('stop hearing of span metrics', stop);
}
