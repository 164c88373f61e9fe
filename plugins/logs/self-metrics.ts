import type { PluginContext, ThreadHandle } from 'svc/sdk';
import { followFigures } from 'svc/store';

import type { LogStoreStatus } from './store/store.ts';

/** Figures of the store as metrics of this process. */
export const selfMetrics = (ctx: PluginContext, thread: ThreadHandle): void =>
  followFigures(ctx, 'log store', () => thread.call<LogStoreStatus>('status'), {
    active_streams: [
      'Streams with lines that are in no block yet.',
      ({ activeStreams }) => activeStreams,
    ],
    held_bytes: ['Bytes of lines in memory.', ({ heldBytes }) => heldBytes],
    wal_bytes: ['Bytes of the log before the blocks.', ({ walBytes }) => walBytes],
    blocks: ['Blocks on disk.', ({ blocks }) => blocks],
    block_bytes: ['Bytes of all blocks.', ({ blockBytes }) => blockBytes],
    damaged: ['Parts of the store that cannot be read.', ({ damage }) => damage.length],
  });
