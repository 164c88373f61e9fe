import { isSvcError, type ThreadHandle } from 'svc/sdk';

import { errors } from './errors.ts';

/** Name of the catalogue in reports. */
export const cataloguePart = 'the catalogue of blocks';

/** Result of examining a whole store. */
export interface StoreReport {
  readonly blocks: number;
  readonly bytes: number;
  /** Descriptions of what cannot be read. */
  readonly damage: readonly string[];
  /** Descriptions of that part of it which accepting the loss stops reporting. */
  readonly acceptable: readonly string[];
  /** Blocks that `mend` brought back. */
  readonly mended: readonly string[];
  /** Descriptions of what `mend` removed from the store. */
  readonly removed: readonly string[];
  /** Damaged files that were replaced and kept, for somebody to look into. */
  readonly aside: readonly string[];
}

/** Maintenance of a store by an operator. */
export interface StoreCare {
  /** Reads every block and the log; marks damaged ones, and unmarks those that are intact again. */
  check(): Promise<StoreReport>;
  /**
   * Brings back, after a check, what can be brought back. `accept`: also drops what is lost for
   * good, so that answers stop reporting it.
   */
  mend(accept: boolean): Promise<StoreReport>;
}

/** Request of an operator to a store. */
export type CareRequest = 'check' | 'mend' | 'accept';

const careMs = 30 * 60_000;

/** Report of a store whose data another server keeps. */
const nothing: StoreReport = {
  blocks: 0,
  bytes: 0,
  damage: [],
  acceptable: [],
  mended: [],
  removed: [],
  aside: [],
};

/** The same from outside the thread, which answers it as `care`, unless it has no store. */
export const careOf = (
  thread: Pick<ThreadHandle, 'call'>,
  hasStore: () => boolean = () => true,
): StoreCare => {
  const care = (request: CareRequest): Promise<StoreReport> =>
    hasStore() ? thread.call('care', request, { timeoutMs: careMs }) : Promise.resolve(nothing);
  return {
    check: () => care('check'),
    async mend(accept) {
      const request = accept ? 'accept' : 'mend';
      try {
        return await care(request);
      } catch (error) {
        if (!isSvcError(error) || error.reason !== errors.catalogue_damaged.reason) {
          throw error;
        }
        const report = await afterReopening(() => care(request));
        return { ...report, mended: [cataloguePart, ...report.mended] };
      }
    },
  };
};

/** Asks a thread that is about to end: a call that meets its end is made again, and waits until it is back. */
async function afterReopening<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isSvcError(error) && error.code === 'unavailable') {
      return await ask();
    }
    throw error;
  }
}
