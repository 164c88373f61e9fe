import { BelievedClock } from 'svc/flow';
import type { Logger } from 'svc/sdk';

import type { BlockRow } from '../blocks/block-table.ts';
import type { Catalogue } from './catalogue.ts';

export interface RetentionLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

type Aged = Pick<BlockRow, 'id' | 'maxt' | 'bytes'>;

const dayMs = 86_400_000;
const noteEveryMs = 60_000;

/**
 * Clock by which blocks of a store expire: never ahead of the newest of them, so that a clock that
 * runs ahead does not delete everything. While the clock is not trusted nothing expires at all.
 */
export class RetentionClock {
  readonly #catalogue: Catalogue;
  readonly #clock: BelievedClock;
  readonly #log: Logger;
  #notedAt = -Infinity;
  #isDoubted = false;

  constructor(
    catalogue: Catalogue,
    {
      now,
      monotonic = () => performance.now(),
      log,
    }: {
      readonly now: () => number;
      readonly monotonic?: (() => number) | undefined;
      readonly log: Logger;
    },
  ) {
    this.#catalogue = catalogue;
    this.#log = log;
    this.#clock = new BelievedClock(
      { now, monotonic },
      { lastSeen: catalogue.lastSeen.get(), toleranceMs: dayMs },
    );
  }

  /**
   * Returns the time that ages are counted from, at most that of the newest sample or line.
   * -Infinity means nothing expires.
   */
  time(newest: number): number {
    const { isDoubted } = this.#clock;
    if (isDoubted !== this.#isDoubted) {
      this.#isDoubted = isDoubted;
      if (isDoubted) {
        this.#log.warn(
          { event: 'store.clock_doubted' },
          'clock differs from the last known time by more than a day; age-based deletion is paused for an hour; check the clock',
        );
      }
    }
    if (isDoubted) {
      return -Infinity;
    }
    const now = this.#clock.now();
    if (Math.abs(now - this.#notedAt) >= noteEveryMs) {
      this.#notedAt = now;
      this.#catalogue.lastSeen.set(now);
    }
    return Math.min(now, newest);
  }
}

/**
 * Returns the ids of expired blocks, oldest first. The newest stays whatever the limits are: they
 * may be wrong.
 */
export function overdue(
  blocks: readonly Aged[],
  { maxAgeMs, maxBytes }: RetentionLimits,
  now: number,
): number[] {
  const oldestFirst = [...blocks].sort((a, b) => a.maxt - b.maxt || a.id - b.id);
  let bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
  const ids: number[] = [];
  for (const block of oldestFirst.slice(0, -1)) {
    if (block.maxt >= now - maxAgeMs && bytes <= maxBytes) {
      break;
    }
    ids.push(block.id);
    bytes -= block.bytes;
  }
  return ids;
}

/** Deletes expired blocks; `also` runs in the same transaction. Returns the deleted rows. */
export function retain(
  catalogue: Catalogue,
  limits: RetentionLimits,
  clock: RetentionClock,
  also?: (ids: readonly number[]) => void,
): readonly BlockRow[] {
  const blocks = catalogue.blocks.list();
  const now = clock.time(newestOf(blocks));
  catalogue.losses.forget(now - limits.maxAgeMs);
  const ids = overdue(blocks, limits, now);
  return ids.length === 0 ? [] : catalogue.blocks.remove(ids, () => also?.(ids));
}

/** Returns the newest time in blocks; memory has newer data still. */
export const newestOf = (blocks: readonly Aged[]): number =>
  blocks.reduce((newest, { maxt }) => Math.max(newest, maxt), -Infinity);
