import {
  MetricsIngest,
  type MetricsIngest as MetricsIngestContract,
} from 'svc/contracts/metricsdb';
import {
  type Handle,
  type Logger,
  messageOf,
  type Metrics,
  type PluginContext,
  type ThreadHandle,
} from 'svc/sdk';

import type { SpanMetricsBody, SpanMetricsNotice } from './thread/contract.ts';

const maxWaiting = 4;

/** Pushes what the thread counts of spans to where metrics are kept, while there is such a place. */
export function relaySpanMetrics(
  { services, metrics, scope, log }: PluginContext,
  thread: ThreadHandle,
): void {
  const lost = metrics.counter(
    'span_metric_rows_lost_total',
    'Samples of span metrics that could not be written.',
  );
  const relay = new SpanMetricsRelay(services.maybe(MetricsIngest), lost, log);
  scope.defer(
    'stop relaying span metrics',
    thread.onNotice(
      ({ kind, value }) => void (kind === 'span-metrics' && relay.add(value as SpanMetricsNotice)),
    ),
  );
}

/** Writes one notice after the other. Counters grow: a batch that is lost is made up for by the next. */
class SpanMetricsRelay {
  readonly #store: Handle<Pick<MetricsIngestContract, 'push'>>;
  readonly #lost: ReturnType<Metrics['counter']>;
  readonly #log: Logger;
  readonly #waiting: SpanMetricsNotice[] = [];
  #isWriting = false;

  constructor(
    store: Handle<Pick<MetricsIngestContract, 'push'>>,
    lost: ReturnType<Metrics['counter']>,
    log: Logger,
  ) {
    this.#store = store;
    this.#lost = lost;
    this.#log = log;
  }

  add(notice: SpanMetricsNotice): void {
    if (!this.#store.available) {
      return;
    }
    this.#waiting.push(notice);
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift()!.forEach(({ rows }) => this.#lost.add(rows));
    }
    if (!this.#isWriting) {
      void this.#writeAll();
    }
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (
      let next = this.#waiting.shift();
      next !== undefined && this.#store.available;
      next = this.#waiting.shift()
    ) {
      for (const body of next) {
        await this.#write(body);
      }
    }
    this.#isWriting = false;
  }

  async #write({ body, rows }: SpanMetricsBody): Promise<void> {
    try {
      await this.#store.get().push('remote-write', body, { given: true });
    } catch (error) {
      this.#lost.add(rows);
      this.#log.warn(
        { event: 'traces.span_metrics_lost', cause: messageOf(error), rows },
        'failed to write span metrics; the next batch includes these counts',
      );
    }
  }
}
