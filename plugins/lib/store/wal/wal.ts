import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf, SvcError } from 'svc/sdk';
import { OpenSegment, type SegmentPlace } from './open-segment.ts';
import { nodeFiles, placeOf, sizeOf, syncFolder, type WalFiles } from './wal-files.ts';
import { replaySegment, type WalDamage } from './wal-replay.ts';
import { framed, largestRecord, segmentName, segmentsIn } from './wal-segment.ts';

export interface WalOptions {
  readonly folder: string;
  readonly log: Logger;
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
}

export interface WalReplay {
  readonly records: number;
  readonly segments: number;
  /** Bytes of writes that a crash truncated and that were never acknowledged; they are removed. */
  readonly tornBytes: number;
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
  segmentBytes = 64 * mebibyte,
  maxBytes = 4096 * mebibyte,
  after = 0,
  files = nodeFiles,
}: WalOptions): Promise<Wal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sizes = new Map<number, number>();
  for (const segment of await segmentsIn(folder)) {
    sizes.set(segment, (await stat(join(folder, segmentName(segment)))).size);
  }
  return new Wal({ folder, log, files }, { segmentBytes, maxBytes, after }, sizes);
}

/** A write-ahead log: records in segments, on disk before their append resolves. */
export class Wal {
  readonly #place: SegmentPlace;
  readonly #segmentBytes: number;
  readonly #maxBytes: number;
  /** Size on disk by number, oldest first. */
  readonly #sizes: Map<number, number>;
  readonly #damage: WalDamage[] = [];
  readonly #queue: (Append | Cut)[] = [];
  #queued = 0;
  #next: number;
  #current: OpenSegment | undefined;
  #flushing = false;
  #flushed: Promise<void> | undefined;
  #closed = false;
  #bytes: number;

  constructor(
    place: SegmentPlace,
    {
      segmentBytes,
      maxBytes,
      after,
    }: { readonly segmentBytes: number; readonly maxBytes: number; readonly after: number },
    sizes: Map<number, number>,
  ) {
    this.#place = place;
    this.#segmentBytes = segmentBytes;
    this.#maxBytes = maxBytes;
    this.#sizes = sizes;
    this.#next = Math.max(after, ...sizes.keys()) + 1;
    this.#bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Segment of the last record, or of the next one. */
  get segment(): number {
    return this.#current?.number ?? this.#next;
  }

  /** The first segment; undefined while there is none. */
  get oldest(): number | undefined {
    return this.#sizes.keys().next().value;
  }

  has(segment: number): boolean {
    return this.#sizes.has(segment);
  }

  /** Damage that replay found. */
  get damage(): readonly WalDamage[] {
    return this.#damage;
  }

  /** Replays all whole records before the first append, oldest first; damaged ones are skipped. */
  async replay(
    each: (record: Buffer, segment: number) => void | Promise<void>,
  ): Promise<WalReplay> {
    let records = 0;
    let tornBytes = 0;
    const segments = [...this.#sizes.keys()];
    for (const segment of segments) {
      const end = await replaySegment(this.#place.folder, segment, each, this.#place.log);
      records += end.records;
      tornBytes += end.tornBytes;
      this.#damage.push(...end.damage);
      if (end.size === 0) {
        this.#forget(segment);
      } else {
        this.#setSize(segment, end.size);
      }
    }
    return { records, segments: segments.length, tornBytes };
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
  async drop(below: number): Promise<void> {
    const { folder } = this.#place;
    for (const segment of [...this.#sizes.keys()]) {
      if (segment < below && segment !== this.#current?.number) {
        await rm(join(folder, segmentName(segment)), { force: true });
        this.#forget(segment);
      }
    }
    await syncFolder(folder);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushed;
    await this.#retire();
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
    return this.#bytes + this.#queued + length > this.#maxBytes
      ? new SvcError(
          'unavailable',
          `the log in ${placeOf(this.#place.folder)} has ${this.#bytes} bytes that are not in blocks yet: wait until they are`,
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
        await this.#retire();
        first.resolve(this.#next);
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
      const segment = this.#current ?? (await this.#begin());
      await segment.append(framed(batch));
      this.#setSize(segment.number, segment.size);
      for (const { resolve } of batch) {
        resolve(segment.number);
      }
      if (segment.size >= this.#segmentBytes) {
        await this.#retire();
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

  async #begin(): Promise<OpenSegment> {
    const segment = await OpenSegment.create(this.#place, this.#next++);
    this.#current = segment;
    this.#setSize(segment.number, segment.size);
    await segment.writeHeader();
    return segment;
  }

  /** Ends the current segment in order; the next append begins another. */
  async #retire(): Promise<void> {
    const ended = this.#current;
    this.#current = undefined;
    if (ended !== undefined) {
      await ended.finish();
      this.#setSize(ended.number, ended.size);
    }
  }

  /** Abandons the segment of a failed write; the next append starts another file. */
  async #abandon(error: unknown): Promise<SvcError> {
    const { folder, log } = this.#place;
    const failed = this.#current;
    this.#current = undefined;
    if (await failed?.abandon()) {
      this.#forget(failed!.number);
    }
    const cause = messageOf(error);
    log.error(
      { event: 'wal.append_failed', folder, cause },
      'appending to the WAL failed; rejecting writes until it succeeds',
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

  #setSize(segment: number, size: number): void {
    this.#bytes += size - (this.#sizes.get(segment) ?? 0);
    this.#sizes.set(segment, size);
  }

  #forget(segment: number): void {
    this.#bytes -= this.#sizes.get(segment) ?? 0;
    this.#sizes.delete(segment);
  }
}

const closedError = (): SvcError =>
  new SvcError('unavailable', 'the store is closed', { reason: 'wal.closed', retryAfterSeconds });
