import { messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import type { StoreStatus } from './thread/contract.ts';

const everyMs = 15_000;

/** Figures of the store as metrics of this process. */
export function selfMetrics({ metrics, scope, log }: PluginContext, thread: ThreadHandle): void {
  const gauge = (name: string, help: string): ((value: number) => void) => {
    const made = metrics.gauge(name, help);
    return (value) => made.set(value);
  };
  const spans = gauge('head_spans', 'Spans that are in no block yet.');
  const held = gauge('head_bytes', 'Bytes of spans in memory.');
  const wal = gauge('wal_bytes', 'Bytes of the log before the blocks.');
  const blocks = gauge('blocks', 'Blocks on disk.');
  const blockBytes = gauge('block_bytes', 'Bytes of all blocks.');
  const damaged = gauge('damaged', 'Parts of the store that cannot be read.');
  const series = gauge('span_metric_series', 'Series of metrics that are counted from spans.');
  const running = gauge('queries_running', 'Queries that are worked on.');
  const waiting = gauge('queries_waiting', 'Queries that wait for their turn.');

  scope.interval('read the figures of the store', everyMs, async () => {
    try {
      const status = await thread.call<StoreStatus>('status');
      spans(status.headSpans);
      held(status.headBytes);
      wal(status.walBytes);
      blocks(status.blocks);
      blockBytes(status.blockBytes);
      damaged(status.damage.length);
      series(status.metricSeries);
      running(status.queries.running);
      waiting(status.queries.waiting);
    } catch (error) {
      log.debug(
        { cause: messageOf(error) },
        'reading trace store statistics failed; retrying in 15 s',
      );
    }
  });
}
