import { messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import type { LogStoreStatus } from './store/store.ts';

const everyMs = 15_000;

/** Figures of the store as metrics of this process. */
export function selfMetrics({ metrics, scope, log }: PluginContext, thread: ThreadHandle): void {
  const gauge = (name: string, help: string): ((value: number) => void) => {
    const made = metrics.gauge(name, help);
    return (value) => made.set(value);
  };
  const streams = gauge('active_streams', 'Streams with lines that are in no block yet.');
  const held = gauge('held_bytes', 'Bytes of lines in memory.');
  const wal = gauge('wal_bytes', 'Bytes of the log before the blocks.');
  const blocks = gauge('blocks', 'Blocks on disk.');
  const blockBytes = gauge('block_bytes', 'Bytes of all blocks.');
  const damaged = gauge('damaged', 'Parts of the store that cannot be read.');

  scope.interval('read the figures of the store', everyMs, async () => {
    try {
      const status = await thread.call<LogStoreStatus>('status');
      streams(status.activeStreams);
      held(status.heldBytes);
      wal(status.walBytes);
      blocks(status.blocks);
      blockBytes(status.blockBytes);
      damaged(status.damage.length);
    } catch (error) {
      log.debug(
        { cause: messageOf(error) },
        'reading log store statistics failed; retrying in 15 s',
      );
    }
  });
}
