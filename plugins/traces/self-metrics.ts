import type { PluginContext, ThreadHandle } from 'svc/sdk';
import { followFigures } from 'svc/store';

import type { StoreStatus } from './thread/contract.ts';

/** Figures of the store as metrics of this process. */
export const selfMetrics = (ctx: PluginContext, thread: ThreadHandle): void =>
  followFigures(ctx, 'trace store', () => thread.call<StoreStatus>('status'), {
    head_spans: ['Spans that are in no block yet.', ({ headSpans }) => headSpans],
    head_bytes: ['Bytes of spans in memory.', ({ headBytes }) => headBytes],
    wal_bytes: ['Bytes of the log before the blocks.', ({ walBytes }) => walBytes],
    blocks: ['Blocks on disk.', ({ blocks }) => blocks],
    block_bytes: ['Bytes of all blocks.', ({ blockBytes }) => blockBytes],
    damaged: ['Parts of the store that cannot be read.', ({ damage }) => damage.length],
    span_metric_series: [
      'Series of metrics that are counted from spans.',
      ({ metricSeries }) => metricSeries,
    ],
    queries_running: ['Queries that are worked on.', ({ queries }) => queries.running],
    queries_waiting: ['Queries that wait for their turn.', ({ queries }) => queries.waiting],
  });
