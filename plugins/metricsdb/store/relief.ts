import { messageOf, type Logger } from 'svc/sdk';
import { type Catalogue } from 'svc/store';

import { spillHead } from './cut.ts';
import { type Head } from './head.ts';
import { type MetricsLimits } from './limits.ts';

interface ReliefParts {
  readonly head: Head;
  readonly catalogue: Catalogue;
  readonly limits: Pick<MetricsLimits, 'headBytes' | 'outOfOrderMs'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** To be called between records of the log: what was accepted under larger limits, or while no block could be written, must not fill the memory. */
export function relief({ head, catalogue, limits, now, log }: ReliefParts): () => Promise<void> | undefined {
  let next = limits.headBytes;

  async function spill(boundary: number): Promise<void> {
    try {
      await spillHead({ head, catalogue, now }, boundary);
    } catch (error) {
      log.error({ cause: messageOf(error) }, 'the head of the metrics store does not fit into memory and could not be written to a block; its log is read on');
    }
    next = Math.max(limits.headBytes, head.samples.chunks.bytes * 1.25);
  }

  return () => {
    const boundary = head.maxTime - limits.outOfOrderMs;
    return head.samples.chunks.bytes > next && head.minTime < boundary ? spill(boundary) : undefined;
  };
}
