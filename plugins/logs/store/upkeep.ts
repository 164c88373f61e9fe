import { type Logger, messageOf, SvcError } from 'svc/sdk';
import { type Catalogue, retain, type RetentionLimits, type Wal } from 'svc/store';

import type { ChunkTable } from './chunk-table.ts';
import type { Cutter } from './cutter.ts';
import type { Intake } from './intake.ts';
import type { CutLimits } from './limits.ts';
import type { Reader } from './reader.ts';
import type { StreamTable } from './stream-table.ts';

export interface UpkeepParts {
  readonly streams: StreamTable;
  readonly chunks: ChunkTable;
  readonly catalogue: Catalogue;
  readonly wal: Wal;
  readonly cutter: Cutter;
  readonly intake: Intake;
  readonly reader: Reader;
  readonly cuts: CutLimits;
  readonly retention: () => RetentionLimits;
  readonly log: Logger;
  readonly now: () => number;
}

/** After a block could not be written. */
const pauseMs = 5_000;

/** Keeps memory, log and blocks within their limits. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  #running: Promise<void> | undefined;
  #tryAgainAt = -Infinity;
  removedBlocks = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  get heldBytes(): number {
    return this.#parts.streams.headBytes + this.#parts.cutter.sealedBytes;
  }

  /** After every push; waits only when memory is full, which slows down whoever sends. */
  async relieve(): Promise<void> {
    const { cutter, cuts, wal } = this.#parts;
    await cutter.sealLarge();
    const full = this.heldBytes >= cuts.memoryBytes || wal.bytes >= cuts.walBytes;
    if ((!full && !cutter.isDue) || this.#parts.now() < this.#tryAgainAt) {
      return;
    }
    const running = this.#alone(() => this.#write(full));
    if (this.heldBytes >= cuts.memoryBytes * 2) {
      await running;
    }
  }

  /** Throws while blocks cannot be written and memory has no room for more. */
  assertRoom(): void {
    const { cutter, cuts } = this.#parts;
    if (this.heldBytes >= cuts.memoryBytes * 3) {
      throw new SvcError('unavailable', cutter.trouble ?? 'log store: blocks are written slower than lines come; retry in a moment', { retryAfterSeconds: 5 });
    }
  }

  /** From time to time: what is idle or old leaves memory, what is overdue leaves the disk. */
  async tidy(): Promise<void> {
    const { cutter } = this.#parts;
    this.#retain();
    await this.#running;
    await this.#alone(async () => {
      await cutter.sealDue();
      if (cutter.isDue) {
        await this.#write(false);
      }
    });
  }

  /** Everything into blocks. */
  async flush(): Promise<void> {
    await this.#running;
    await this.#alone(() => this.#write(true));
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  /** Unless something runs already; then it is waited for instead. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#running ??= work()
      .catch((error: unknown) => {
        this.#tryAgainAt = this.#parts.now() + pauseMs;
        this.#parts.log.warn(
          { event: 'logs.block_not_written', cause: messageOf(error) },
          'could not write a log block; lines stay in memory and in the WAL, and it is retried',
        );
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #write(all: boolean): Promise<void> {
    const { cutter, wal, intake } = this.#parts;
    if (all) {
      await cutter.sealAll();
    }
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
    const { catalogue, reader, retention, now } = this.#parts;
    const gone = retain(catalogue, retention(), now());
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
        stream.stored && stream.head === undefined && stream.sealed.length === 0 && stream.cutRecord < intake.floorRecord && chunks.isEmpty(stream.id),
    );
    catalogue.db.transaction(() => empty.forEach(({ id }) => chunks.removeStream(id)))();
    empty.forEach((stream) => streams.forget(stream));
  }
}
