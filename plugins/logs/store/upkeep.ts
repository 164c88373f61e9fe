import { type Logger, messageOf } from 'svc/sdk';
import {
  type Catalogue,
  type DamageTracker,
  endIfDamaged,
  retain,
  RetentionClock,
  type RetentionLimits,
  type Wal,
} from 'svc/store';

import type { ChunkTable } from './blocks/chunk-table.ts';
import type { Cutter } from './blocks/cutter.ts';
import { errors } from './errors.ts';
import type { CutLimits } from './head/limits.ts';
import type { StreamTable } from './head/stream-table.ts';
import type { Intake } from './intake/intake.ts';
import type { Reader } from './read/reader.ts';

export interface UpkeepParts {
  readonly streams: StreamTable;
  readonly chunks: ChunkTable;
  readonly catalogue: Catalogue;
  readonly wal: Wal;
  readonly cutter: Cutter;
  readonly intake: Intake;
  readonly reader: Reader;
  readonly damage: DamageTracker;
  readonly cuts: CutLimits;
  readonly retention: () => RetentionLimits;
  readonly log: Logger;
  readonly now: () => number;
  readonly monotonic: (() => number) | undefined;
}

/** Pause after a block could not be written. */
const pauseMs = 5_000;

/** Keeps memory, log and blocks within their limits. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #clock: RetentionClock;
  #running: Promise<void> | undefined;
  #tryAgainAt = -Infinity;
  removedBlocks = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#clock = new RetentionClock(parts.catalogue, parts);
  }

  get heldBytes(): number {
    return this.#parts.streams.headBytes + this.#parts.cutter.sealedBytes;
  }

  /** Frees memory after a push; waits only if memory is full, which slows senders down. */
  async relieve(): Promise<void> {
    await this.#relieve(this.#pinnedBelow);
  }

  /** Frees memory while the log is replayed, when its size says nothing yet. */
  async relieveMemory(): Promise<void> {
    await this.#relieve(0);
  }

  async #relieve(pinnedBelow: number): Promise<void> {
    const { cutter, cuts, wal } = this.#parts;
    await cutter.sealLarge();
    const full = this.heldBytes >= cuts.memoryBytes || wal.bytes >= cuts.walBytes;
    if ((!full && pinnedBelow === 0 && !cutter.isDue) || this.#parts.now() < this.#tryAgainAt) {
      return;
    }
    const running = this.#alone(() => this.#write(full ? Infinity : pinnedBelow));
    if (this.heldBytes >= cuts.memoryBytes * 2) {
      await running;
    }
  }

  /** Slow streams must not hold segments full of lines that are in blocks: those that began before the last two go early. 0: none has to. */
  get #pinnedBelow(): number {
    const { cutter, cuts, wal, streams, intake } = this.#parts;
    const slack = wal.bytes - streams.headBytes - cutter.sealedRawBytes;
    return slack >= cuts.slackBytes && intake.oldestSegment < wal.segment - 1 ? wal.segment - 1 : 0;
  }

  /** Throws while blocks cannot be written and memory is full. */
  assertRoom(): void {
    const { cutter, cuts } = this.#parts;
    if (this.heldBytes >= cuts.memoryBytes * 3) {
      throw errors.no_room(
        {
          trouble:
            cutter.trouble ??
            'log store: blocks are written slower than lines come; retry in a moment',
        },
        { retryAfterSeconds: 5 },
      );
    }
  }

  /**
   * Performs periodic maintenance: writes idle or old data to blocks, and deletes expired blocks.
   */
  async tidy(): Promise<void> {
    const { cutter } = this.#parts;
    this.#retain();
    for (const { file } of await this.#parts.damage.lookAgain(this.#parts.now())) {
      this.#parts.reader.forget(file);
    }
    await this.#running;
    await this.#alone(async () => {
      await cutter.sealDue();
      const pinnedBelow = this.#pinnedBelow;
      if (cutter.isDue || pinnedBelow > 0) {
        await this.#write(pinnedBelow);
      }
    });
  }

  /** Everything into blocks. */
  async flush(): Promise<void> {
    await this.#running;
    await this.#alone(() => this.#write(Infinity));
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  /** Runs work exclusively; if something runs already, waits for that instead. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#running ??= work()
      .catch((error: unknown) => {
        endIfDamaged(error);
        this.#tryAgainAt = this.#parts.now() + pauseMs;
        this.#parts.log.warn(
          { event: 'logs.block_not_written', cause: messageOf(error) },
          'failed to write a log block; lines stay in memory and in the WAL; retrying',
        );
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Streams that began before this segment are written with what is ready. */
  async #write(sealBelow: number): Promise<void> {
    const { cutter, wal, intake } = this.#parts;
    await cutter.sealBefore(sealBelow);
    await cutter.write();
    if (cutter.floor === Infinity) {
      // Nothing in memory needs the present segment any more either.
      await wal.cut();
    }
    const floor = Math.min(wal.segment, cutter.floor, intake.floor);
    await wal.drop(floor);
    intake.dropped(floor);
  }

  #retain(): void {
    const { catalogue, reader, retention, wal } = this.#parts;
    const { maxAgeMs, maxBytes } = retention();
    const gone = retain(
      catalogue,
      { maxAgeMs, maxBytes: Math.max(0, maxBytes - wal.bytes) },
      this.#clock,
    );
    for (const { file } of gone) {
      reader.forget(file);
    }
    this.removedBlocks += gone.length;
    if (gone.length > 0) {
      this.#forgetStreams();
    }
  }

  /** Streams without a line; their row stays while the log may still hold records that are cut already. */
  #forgetStreams(): void {
    const { streams, chunks, catalogue, intake } = this.#parts;
    const empty = [...streams.all()].filter(
      (stream) =>
        stream.stored &&
        stream.head === undefined &&
        stream.sealed.length === 0 &&
        stream.cutRecord < intake.floorRecord &&
        chunks.isEmpty(stream.id),
    );
    catalogue.db.transaction(() => empty.forEach(({ id }) => chunks.removeStream(id)))();
    empty.forEach((stream) => streams.forget(stream));
  }
}
