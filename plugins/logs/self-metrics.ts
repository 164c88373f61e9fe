import type { PluginContext, ThreadHandle } from 'svc/sdk';
import { followFigures, limitRatios } from 'svc/store';

import type { LogStoreStatus } from './store/store.ts';

/** Figures of the store as metrics of this process. */
export function selfMetrics(ctx: PluginContext, thread: ThreadHandle): void {
  const limits = limitRatios(
    ctx.metrics.gauge(
      'stream_limit_ratio',
      'Streams of a limit that is at least half reached, of those it allows: that of all active streams, of all known ones, or of the active ones of a sender.',
      ['limit', 'sender'],
    ),
  );
  followFigures(
    ctx,
    'log store',
    () => thread.call<LogStoreStatus>('status'),
    {
      active_streams: [
        'Streams with lines that are in no block yet.',
        ({ activeStreams }) => activeStreams,
      ],
      held_bytes: ['Bytes of lines in memory.', ({ heldBytes }) => heldBytes],
      wal_bytes: ['Bytes of the log before the blocks.', ({ walBytes }) => walBytes],
      blocks: ['Blocks on disk.', ({ blocks }) => blocks],
      block_bytes: ['Bytes of all blocks.', ({ blockBytes }) => blockBytes],
      damaged: ['Parts of the store that cannot be read.', ({ damage }) => damage.length],
    },
    ({ streamBounds }) =>
      limits(
        streamBounds.map(({ limit, sender, used, max }) => ({
          labels: { limit, sender },
          used,
          max,
        })),
      ),
  );
}
