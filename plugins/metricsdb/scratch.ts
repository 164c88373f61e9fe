import type { ThreadHandle } from 'svc/sdk';

import type { InstantAnswer, ScratchSeries } from './contract.ts';

/** A store in the thread's memory, from the side of whoever asked for it. */
export async function openScratch(thread: ThreadHandle): Promise<ScratchSeries> {
  const id = await thread.call<number>('scratchOpen');
  return {
    write: (rows) => thread.call('scratchWrite', { id, rows }),
    instant: (query, time, options = {}) => thread.call<InstantAnswer>('scratchInstant', { id, query, time }, options),
    close: () => thread.call('scratchClose', { id }),
  };
}
