import { messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';
import { limitRatios } from 'svc/store';

import type { Driver } from './drivers/driver.ts';
import type { ThreadStats } from './thread/contract.ts';

const everyMs = 15_000;

/** Figures of the thread and its store as metrics of this process. */
export function selfMetrics(
  { metrics, scope, log }: PluginContext,
  thread: ThreadHandle,
  driver: () => Driver,
): void {
  const gauge = (name: string, help: string): ((value: number) => void) => {
    const made = metrics.gauge(name, help);
    return (value) => made.set(value);
  };
  const up = gauge(
    'up',
    '1 if the current metrics store, embedded or remote, answered the last check.',
  );
  const waiting = gauge('queries_waiting', 'Queries that wait for their turn.');
  const running = gauge('queries_running', 'Queries that are worked on.');
  const series = gauge('series', 'Series with samples that are in no block yet.');
  const limits = limitRatios(
    metrics.gauge(
      'series_limit_ratio',
      'Series of a limit that is at least half reached, of those it allows: that of all, of a sender, or of a metric of a sender.',
      ['limit', 'sender', 'metric'],
    ),
  );
  const headBytes = gauge('head_bytes', 'Bytes of samples and labels in memory.');
  const walBytes = gauge('wal_bytes', 'Bytes of the log before the blocks.');
  const blocks = gauge('blocks', 'Blocks on disk.');
  const blockBytes = gauge('block_bytes', 'Bytes of all blocks.');
  const damaged = gauge('damaged', 'Parts of the store that cannot be read.');
  const asked = metrics.counter('queries_total', 'Queries received by the thread.');
  const accepted = metrics.counter('samples_accepted_total', 'Samples that were stored.');
  const rejected = metrics.counter('samples_rejected_total', 'Samples that were refused for good.');
  /** Totals last reported by the thread; they restart with it. */
  const last = new Map<string, number>();
  const grow = (counter: { add(amount: number): void }, name: string, total: number): void => {
    const before = last.get(name) ?? 0;
    counter.add(total >= before ? total - before : total);
    last.set(name, total);
  };

  scope.interval('read the figures of the metrics store', everyMs, async () => {
    up((await driver().probe()).ok ? 1 : 0);
    try {
      const { store, ...load } = await thread.call<ThreadStats>('stats');
      waiting(load.waiting);
      running(load.running);
      grow(asked, 'asked', load.asked);
      series(store?.series ?? 0);
      limits(
        (store?.seriesBounds ?? []).map(({ limit, sender, metric, used, max }) => ({
          labels: { limit, sender, metric },
          used,
          max,
        })),
      );
      headBytes(store?.headBytes ?? 0);
      walBytes(store?.walBytes ?? 0);
      blocks(store?.blocks ?? 0);
      blockBytes(store?.blockBytes ?? 0);
      damaged(store?.damaged ?? 0);
      grow(accepted, 'accepted', store?.accepted ?? 0);
      grow(rejected, 'rejected', store?.rejected ?? 0);
    } catch (error) {
      log.debug(
        { cause: messageOf(error) },
        'failed to read metrics store statistics; retrying in 15 s',
      );
    }
  });
}
