import { type Logger, messageOf } from 'svc/sdk';
import {
  type BlockRow,
  type DiskSpace,
  endIfDamaged,
  newestOf,
  overdue,
  RetentionClock,
} from 'svc/store';

import { sliceMs } from '../blocks/block-layout.ts';
import { getState } from '../blocks/catalogue-schema.ts';
import { compact, compactionPlan } from '../blocks/compaction.ts';
import { rollUp, rollupPlan, thinnedOf } from '../blocks/rollup.ts';
import type { Drops } from '../drop/drops.ts';
import { cutHead, type CutParts } from './cut.ts';
import type { MetricsLimits } from './limits.ts';

export interface UpkeepParts extends CutParts {
  readonly limits: MetricsLimits;
  readonly disk: DiskSpace;
  readonly monotonic?: (() => number) | undefined;
  readonly log: Logger;
  readonly drops: Drops;
}

const retryAfterMs = 30_000;
/** Time between cuts that only make room for series. */
const roomEveryMs = 15 * 60_000;

/** Background work behind pushes and queries, one task at a time: cuts, compaction, retention. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #clock: RetentionClock;
  #work: Promise<void> = Promise.resolve();
  #cutting = false;
  #nextAttempt = -Infinity;
  #boundary: number | undefined;
  #tidiedAt = -Infinity;
  #cutAt = -Infinity;
  #isDropping = false;
  #isStopped = false;
  /** Bytes that the last cut could not free. */
  #leftBytes = 0;
  readonly counts = { cuts: 0, failedCuts: 0, compactions: 0, rollups: 0 };

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#clock = new RetentionClock(parts.catalogue, parts);
    const { catalogue, head } = parts;
    this.#boundary =
      getState(catalogue.db, 'boundary') ??
      (Number.isFinite(head.minTime) ? sliceStart(head.minTime) : undefined);
  }

  /**
   * Starts a cut if due; call after each push. A complete window goes to a block, and so does what
   * does not fit into memory.
   */
  cutWhenDue(): void {
    const { head, limits } = this.#parts;
    const { maxTime, minTime, samples } = head;
    this.#boundary ??= sliceStart(maxTime);
    const due = sliceStart(maxTime - limits.outOfOrderMs);
    const early = Math.max(this.#boundary, maxTime - limits.outOfOrderMs);
    if (due > this.#boundary) {
      this.#cut(due);
    } else if (
      samples.chunks.bytes > Math.max(limits.headBytes, this.#leftBytes * 1.25) &&
      minTime < early
    ) {
      this.#cut(early);
    }
  }

  /**
   * Performs cuts that are due by the clock, retention and one step of compaction; call
   * periodically.
   */
  async tidy(): Promise<void> {
    await this.settled();
    const { head, limits, now } = this.#parts;
    head.removeUnstored();
    this.dropBlocks();
    const due = sliceStart(now() - limits.outOfOrderMs - sliceMs / 4);
    // Old samples come in at any time; they do not each make a block.
    if (head.minTime < due && now() - this.#tidiedAt >= sliceMs / 4) {
      this.#tidiedAt = now();
      this.#cut(due);
    } else if (head.refusing && now() - this.#cutAt >= roomEveryMs) {
      // Series that ended leave the head with a cut: they make room for those that are refused.
      this.#cut(Math.max(this.#boundary ?? -Infinity, head.maxTime - limits.outOfOrderMs));
    }
    await this.settled();
    this.#expire();
    await this.#parts.blocks.lookAgain(now());
    this.#compact();
    await this.settled();
    this.#rollUp();
    await this.settled();
  }

  /** Writes everything that is in memory to new segments of the log, so that the old ones can go. */
  async renewLog(): Promise<void> {
    const { head, now } = this.#parts;
    const newest = Number.isFinite(head.maxTime) ? head.maxTime : now();
    const boundary = this.#boundary ?? sliceStart(newest);
    await this.alone(() => cutHead(this.#parts, boundary));
  }

  /** Performs work while no block is written or replaced. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.then(
      () => undefined,
      () => undefined,
    );
    return await done;
  }

  /** Rewrites the blocks of pending drops, one after the other, so that cuts come in between. */
  dropBlocks(): void {
    const { drops, log } = this.#parts;
    if (this.#isDropping || this.#isStopped || !drops.pending) {
      return;
    }
    this.#isDropping = true;
    this.#work = this.#work.then(async () => {
      try {
        await drops.step();
        this.#isDropping = false;
        this.dropBlocks();
      } catch (error) {
        this.#isDropping = false;
        endIfDamaged(error);
        log.error(
          { event: 'metricsdb.drop_failed', cause: messageOf(error) },
          'failed to remove dropped series from a metrics block; retrying in 30 s',
        );
      }
    });
  }

  /** Starts no further step of a drop, which goes on when the store is next opened. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.settled();
  }

  /** Resolves once nothing is running. */
  async settled(): Promise<void> {
    for (let waited: Promise<void> | undefined; waited !== this.#work;) {
      waited = this.#work;
      await waited;
    }
  }

  #cut(boundary: number): void {
    const { head, log, now } = this.#parts;
    if (this.#cutting || now() < this.#nextAttempt) {
      return;
    }
    this.#cutting = true;
    this.#work = this.#work.then(async () => {
      try {
        await this.#cutOldDays(boundary);
        await cutHead(this.#parts, boundary);
        this.#boundary = boundary;
        this.#cutAt = now();
        head.refusing = false;
        this.#leftBytes = head.samples.chunks.bytes;
        this.counts.cuts++;
      } catch (error) {
        endIfDamaged(error);
        this.counts.failedCuts++;
        this.#nextAttempt = now() + retryAfterMs;
        log.error(
          { event: 'metricsdb.head_not_written', cause: messageOf(error) },
          'failed to write the metrics head to a block; samples stay in the WAL; retrying',
        );
      } finally {
        this.#cutting = false;
      }
      this.cutWhenDue();
    });
  }

  /**
   * Cuts samples of past days into one block a day: a single block would be read for every day, and
   * kept until its last day may go.
   */
  async #cutOldDays(boundary: number): Promise<void> {
    const { head } = this.#parts;
    for (
      let day = dayAfter(Math.max(head.minTime, boundary - maxDays * dayMs));
      day < boundary;
      day = dayAfter(head.minTime)
    ) {
      await cutHead(this.#parts, day);
    }
  }

  #expire(): void {
    const { catalogue, blocks, head, limits, log } = this.#parts;
    const now = this.#clock.time(Math.max(head.maxTime, newestOf(blocks.list())));
    catalogue.losses.forget(now - limits.maxAgeMs);
    const ids = expired(blocks.list(), limits, now);
    if (ids.length > 0) {
      const gone = catalogue.blocks.remove(ids);
      blocks.refresh();
      log.info(
        { blocks: gone.length, bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0) },
        'removed expired metrics blocks',
      );
    }
  }

  #compact(): void {
    const { catalogue, blocks, drops, head, disk, now, log } = this.#parts;
    const plan = compactionPlan(blocks.list(), head.maxTime);
    // A merged block would be newer than a drop that has not come to its parts.
    if (plan.length === 0 || drops.pending || disk.refusal() !== undefined) {
      return;
    }
    this.#work = this.#work.then(async () => {
      try {
        this.counts.compactions += (await compact(catalogue, blocks, plan, now)) ? 1 : 0;
      } catch (error) {
        endIfDamaged(error);
        log.error(
          { event: 'metricsdb.compaction_failed', cause: messageOf(error) },
          'compaction failed; keeping source blocks',
        );
      }
    });
  }

  #rollUp(): void {
    const { catalogue, blocks, head, disk, now, log } = this.#parts;
    const plan = rollupPlan(blocks.list(), head.maxTime);
    if (
      plan === undefined ||
      compactionPlan(blocks.list(), head.maxTime).length > 0 ||
      disk.refusal() !== undefined
    ) {
      return;
    }
    this.#work = this.#work.then(async () => {
      try {
        this.counts.rollups += (await rollUp(catalogue, blocks, plan, now)) ? 1 : 0;
      } catch (error) {
        endIfDamaged(error);
        log.error(
          { event: 'metricsdb.downsampling_failed', cause: messageOf(error) },
          'failed to downsample a metrics block; long-range queries will read the full block',
        );
      }
    });
  }
}

const sliceStart = (time: number): number => Math.floor(time / sliceMs) * sliceMs;

const dayMs = 24 * 3_600_000;
/** Max days that get a block of their own; anything older goes into one block. */
const maxDays = 31;
const dayAfter = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;

/**
 * Returns ids of blocks to delete by age or size. Data loaded for the distant past stays a day, so
 * that it can be examined.
 */
export function expired(
  rows: readonly BlockRow[],
  { maxAgeMs, maxBytes }: Pick<MetricsLimits, 'maxAgeMs' | 'maxBytes'>,
  now: number,
): number[] {
  const aged = rows.map((row) => ({
    ...row,
    maxt: Math.max(row.maxt, writtenAt(row) - maxAgeMs + dayMs),
  }));
  const ids = overdue(aged, { maxAgeMs, maxBytes }, now);
  return [...new Set([...ids, ...thinnedOf(rows, new Set(ids)).map(({ id }) => id)])];
}

function writtenAt({ meta }: BlockRow): number {
  const { written } = JSON.parse(meta) as { readonly written?: unknown };
  return typeof written === 'number' ? written : -Infinity;
}
