import { type Logger, messageOf, SvcError } from 'svc/sdk';
import type { SegmentPlace } from './open-segment.ts';
import { Segments, type WalReplay } from './segments.ts';
import { type ListCopy, nodeFiles, placeOf, sizeOf, type WalFiles } from './wal-files.ts';
import type { WalDamage } from './wal-replay.ts';
import { framed, largestRecord } from './wal-segment.ts';

export interface WalOptions {
  /** Folder of the segments; the list of them is beside it. */
  readonly folder: string;
  readonly log: Logger;
  /** Milliseconds since 1970; says from when on the records of a lost segment may be. */
  readonly now?: () => number;
  /** A segment that has grown past this is followed by a new one. Default 64 MiB. */
  readonly segmentBytes?: number;
  /**
   * Max size of all segments together, beyond which nothing is accepted until some are dropped.
   * Default 4 GiB.
   */
  readonly maxBytes?: number;
  /** A number of an earlier segment: later ones get greater ones even if none is left. */
  readonly after?: number;
  readonly files?: WalFiles;
  /** Copy of the list of segments, by which a segment that is deleted together with the list is missed as well. */
  readonly copy?: ListCopy;
}

interface Append {
  readonly parts: readonly Uint8Array[];
  readonly length: number;
  resolve(segment: number): void;
  reject(error: Error): void;
}

interface Cut {
  readonly cut: true;
  resolve(segment: number): void;
  reject(error: Error): void;
}

const mebibyte = 1024 * 1024;

/** Max bytes that wait for the disk; beyond it the sender is told to wait instead. */
const largestQueue = 128 * mebibyte;
const largestBatch = 16 * mebibyte;
const retryAfterSeconds = 5;

export async function openWal({
  folder,
  log,
  now,
  segmentBytes = 64 * mebibyte,
  maxBytes = 4096 * mebibyte,
  after = 0,
  files = nodeFiles,
  copy,
}: WalOptions): Promise<Wal> {
  const place = { folder, log, files, now, copy };
  return new Wal(place, await Segments.open(place, after), { segmentBytes, maxBytes });
}

interface WalBounds {
  readonly segmentBytes: number;
  readonly maxBytes: number;
}

/** A write-ahead log: records in segments, on disk before their append resolves. */
export class Wal {
  readonly #place: SegmentPlace;
  readonly #segments: Segments;
  readonly #bounds: WalBounds;
  readonly #queue: (Append | Cut)[] = [];
  #queued = 0;
  #flushing = false;
  #flushed: Promise<void> | undefined;
  #closed = false;

  constructor(place: SegmentPlace, segments: Segments, bounds: WalBounds) {
    this.#place = place;
    this.#segments = segments;
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Segment of the last record, or of the next one. */
  get segment(): number {
    return this.#segments.current?.number ?? this.#segments.next;
  }

  /** The first segment; undefined while there is none. */
  get oldest(): number | undefined {
    return this.#segments.oldest;
  }

  has(segment: number): boolean {
    return this.#segments.has(segment);
  }

  /** Damage that replay found: records that are lost. */
  get damage(): readonly WalDamage[] {
    return this.#segments.damage;
  }

  /** Damage that was found since: records that are still in memory, and lost if the process ends. */
  get problems(): readonly WalDamage[] {
    return this.#segments.problems;
  }

  /** Replays all whole records before the first append, oldest first; damaged ones are skipped. */
  replay(each: (record: Buffer, segment: number) => void | Promise<void>): Promise<WalReplay> {
    return this.#segments.replay(each);
  }

  /**
   * Looks for problems. What is appended from now on does not go into a segment that has one.
   * `full` reads every segment, not only its size.
   */
  async look({ full }: { readonly full: boolean }): Promise<void> {
    await this.#segments.look({ full });
    const current = this.#segments.current;
    if (current !== undefined && this.#segments.hasProblem(current.number) && !this.#closed) {
      await this.cut();
    }
  }

  /** Takes what replay could not read for gone: the next replay does not miss it. */
  accept(): Promise<void> {
    return this.#segments.accept();
  }

  /**
   * Appends one record made of these parts, which must not change until this settles. Resolves when
   * it is on disk; waiting appends share one sync.
   */
  append(...parts: readonly Uint8Array[]): Promise<number> {
    const length = sizeOf(parts);
    const refusal = this.#refusal(length);
    if (refusal !== undefined) {
      return Promise.reject(refusal);
    }
    this.#queued += length;
    return new Promise((resolve, reject) => this.#enqueue({ parts, length, resolve, reject }));
  }

  /** Appends that are called from now on go to a new segment; resolves with its number when all earlier ones are settled. */
  cut(): Promise<number> {
    return this.#closed
      ? Promise.reject(closedError())
      : new Promise((resolve, reject) => this.#enqueue({ cut: true, resolve, reject }));
  }

  /** Deletes the segments below this number. */
  drop(below: number): Promise<void> {
    return this.#segments.drop(below);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushed;
    await this.#segments.retire();
  }

  #refusal(length: number): SvcError | undefined {
    if (this.#closed) {
      return closedError();
    }
    if (length === 0 || length > largestRecord) {
      return new SvcError(
        'invalid_argument',
        `a record has ${length} bytes; from 1 to ${largestRecord} can be stored`,
        { reason: 'wal.record_size' },
      );
    }
    if (this.#queued + length > largestQueue && this.#queued > 0) {
      return new SvcError('rate_limited', 'the disk cannot keep up with the data: wait a moment', {
        reason: 'wal.disk_too_slow',
        retryAfterSeconds: 1,
      });
    }
    return this.bytes + this.#queued + length > this.#bounds.maxBytes
      ? new SvcError(
          'unavailable',
          `the log in ${placeOf(this.#place.folder)} has ${this.bytes} bytes that are not in blocks yet: wait until they are`,
          {
            reason: 'wal.full',
            retryAfterSeconds,
          },
        )
      : undefined;
  }

  #enqueue(entry: Append | Cut): void {
    this.#queue.push(entry);
    if (!this.#flushing) {
      this.#flushing = true;
      this.#flushed = this.#flush();
    }
  }

  async #flush(): Promise<void> {
    // Callers that append in this turn of the event loop share the first sync, too.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const first = this.#queue[0]!;
      if ('cut' in first) {
        this.#queue.shift();
        await this.#segments.retire();
        first.resolve(this.#segments.next);
      } else {
        await this.#commit(this.#takeBatch());
      }
    }
    // In the same step as the last look at the queue: a later caller starts it again.
    this.#flushing = false;
  }

  #takeBatch(): Append[] {
    const batch: Append[] = [];
    let size = 0;
    while (this.#queue.length > 0 && size < largestBatch) {
      const entry = this.#queue[0]!;
      if ('cut' in entry) {
        break;
      }
      batch.push(entry);
      size += entry.length;
      this.#queue.shift();
    }
    return batch;
  }

  async #commit(batch: readonly Append[]): Promise<void> {
    try {
      const segment = this.#segments.current ?? (await this.#segments.begin());
      await segment.append(framed(batch));
      this.#segments.grown(segment);
      for (const { resolve } of batch) {
        resolve(segment.number);
      }
      if (segment.size >= this.#bounds.segmentBytes) {
        await this.#segments.retire();
      }
    } catch (error) {
      const reason = await this.#abandon(error);
      for (const { reject } of batch) {
        reject(reason);
      }
    } finally {
      this.#queued -= batch.reduce((sum, { length }) => sum + length, 0);
    }
  }

  /** Abandons the segment of a failed write; the next append starts another file. */
  async #abandon(error: unknown): Promise<SvcError> {
    const { folder, log } = this.#place;
    await this.#segments.abandon();
    const cause = messageOf(error);
    log.error(
      { event: 'wal.append_failed', folder, cause },
      'failed to append to the WAL; rejecting writes until it succeeds',
    );
    return new SvcError(
      'unavailable',
      `nothing can be stored now (${cause.replaceAll(folder, placeOf(folder))}): free some space there; storing then resumes by itself`,
      {
        reason: 'wal.not_writable',
        cause: error,
        retryAfterSeconds,
      },
    );
  }
}

const closedError = (): SvcError =>
  new SvcError('unavailable', 'the store is closed', { reason: 'wal.closed', retryAfterSeconds });
