import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf, SvcError } from 'svc/sdk';
import { nodeFiles, sizeOf, syncFolder, type WalFile, type WalFiles } from './wal-files.ts';
import { replaySegment } from './wal-replay.ts';
import { frameBytes, framed, headerBytes, largestRecord, seal, segmentHeader, segmentName, segmentsIn } from './wal-segment.ts';

export interface WalOptions {
  readonly folder: string;
  readonly log: Logger;
  /** A segment that has grown past this is followed by a new one. Default 64 MiB. */
  readonly segmentBytes?: number;
  /** Past this in all segments together nothing is taken until some are dropped. Default 4 GiB. */
  readonly maxBytes?: number;
  readonly files?: WalFiles;
}

export interface WalReplay {
  readonly records: number;
  readonly segments: number;
  /** Bytes of writes that a crash cut short and that nobody was told of; they are cut away. */
  readonly tornBytes: number;
}

export interface Wal {
  /** Before the first append: all whole records, oldest first. What lies behind a damaged record of a segment is not read. */
  replay(each: (record: Buffer, segment: number) => void | Promise<void>): Promise<WalReplay>;
  /** One record made of these parts, which must not change until this settles. Resolves when it is on disk; appends that wait share one sync. */
  append(...parts: readonly Uint8Array[]): Promise<number>;
  /** Appends that are called from now on go to a new segment; resolves with its number when all earlier ones are settled. */
  cut(): Promise<number>;
  /** Deletes the segments below this number. */
  drop(below: number): Promise<void>;
  readonly bytes: number;
  /** Where the last record went, or the next one goes. */
  readonly segment: number;
  /** What replay could not read, as sentences. */
  readonly damage: readonly string[];
  close(): Promise<void>;
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

/** So much may wait for the disk; past it the sender is told to wait instead. */
const largestQueue = 128 * mebibyte;
const largestBatch = 16 * mebibyte;
const retryAfterSeconds = 5;

export async function openWal({ folder, log, segmentBytes = 64 * mebibyte, maxBytes = 4096 * mebibyte, files = nodeFiles }: WalOptions): Promise<Wal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  /** Size on disk by number, oldest first. */
  const sizes = new Map<number, number>();
  for (const segment of await segmentsIn(folder)) {
    sizes.set(segment, (await stat(join(folder, segmentName(segment)))).size);
  }
  const damage: string[] = [];
  const queue: (Append | Cut)[] = [];
  let queued = 0;
  let next = Math.max(0, ...sizes.keys()) + 1;
  let current: { readonly file: WalFile; readonly segment: number; size: number } | undefined;
  let flushing = false;
  let flushed: Promise<void> | undefined;
  let closed = false;
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);

  function setSize(segment: number, size: number): void {
    bytes += size - (sizes.get(segment) ?? 0);
    sizes.set(segment, size);
  }

  function forget(segment: number): void {
    bytes -= sizes.get(segment) ?? 0;
    sizes.delete(segment);
  }

  async function replay(each: (record: Buffer, segment: number) => void | Promise<void>): Promise<WalReplay> {
    let records = 0;
    let tornBytes = 0;
    const segments = [...sizes.keys()];
    for (const segment of segments) {
      const end = await replaySegment(folder, segment, each, log);
      records += end.records;
      tornBytes += end.tornBytes;
      damage.push(...end.damage);
      if (end.size === 0) {
        forget(segment);
      } else {
        setSize(segment, end.size);
      }
    }
    return { records, segments: segments.length, tornBytes };
  }

  function enqueue(entry: Append | Cut): void {
    queue.push(entry);
    if (!flushing) {
      flushing = true;
      flushed = flush();
    }
  }

  async function flush(): Promise<void> {
    // Whoever appends in this turn of the event loop shares the first sync, too.
    await Promise.resolve();
    while (queue.length > 0) {
      const first = queue[0]!;
      if ('cut' in first) {
        queue.shift();
        await retire();
        first.resolve(next);
      } else {
        await commit(takeBatch());
      }
    }
    // In the same step as the last look at the queue: who comes later starts it again.
    flushing = false;
  }

  function takeBatch(): Append[] {
    const batch: Append[] = [];
    let size = 0;
    while (queue.length > 0 && size < largestBatch) {
      const entry = queue[0]!;
      if ('cut' in entry) {
        break;
      }
      batch.push(entry);
      size += entry.length;
      queue.shift();
    }
    return batch;
  }

  async function commit(batch: readonly Append[]): Promise<void> {
    try {
      const target = (current ??= await begin());
      const written = framed(batch);
      const size = sizeOf(written);
      await target.file.write(written, target.size);
      await target.file.sync();
      target.size += size;
      setSize(target.segment, target.size);
      for (const { resolve } of batch) {
        resolve(target.segment);
      }
      if (target.size >= segmentBytes) {
        await retire();
      }
    } catch (error) {
      const reason = await abandon(error);
      for (const { reject } of batch) {
        reject(reason);
      }
    } finally {
      queued -= batch.reduce((sum, { length }) => sum + length, 0);
    }
  }

  async function begin(): Promise<NonNullable<typeof current>> {
    const segment = next++;
    const file = await files.create(join(folder, segmentName(segment)));
    current = { file, segment, size: headerBytes };
    setSize(segment, headerBytes);
    await file.write([segmentHeader(segment)], 0);
    return current;
  }

  /** A step after which the log goes on either way: replay copes with what it leaves behind. */
  async function tried(segment: number, failure: string, step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      log.warn({ folder, segment, cause: messageOf(error) }, failure);
    }
  }

  /** Ends the current segment in order; the next append begins another. A seal that cannot be written is only missed. */
  async function retire(): Promise<void> {
    const ended = current;
    if (ended === undefined) {
      return;
    }
    current = undefined;
    try {
      await ended.file.write([seal()], ended.size);
      await ended.file.sync();
      setSize(ended.segment, ended.size + frameBytes);
    } catch (error) {
      log.warn({ folder, segment: ended.segment, cause: messageOf(error) }, 'a segment of the log could not be sealed');
      await tried(ended.segment, 'nor cut back', ended.file.truncate(ended.size));
    }
    await tried(ended.segment, 'a segment of the log could not be closed', ended.file.close());
  }

  /**
   * After a failed write or sync nobody knows what the file holds behind the last acknowledged record, and a second
   * sync could lie: that part is cut away, and the next append begins another file.
   */
  async function abandon(error: unknown): Promise<SvcError> {
    const failed = current;
    current = undefined;
    if (failed !== undefined) {
      const { file, segment, size } = failed;
      await tried(segment, 'a failed write could not be cut away', file.truncate(size));
      await tried(segment, 'a segment of the log could not be closed', file.close());
      if (size === headerBytes) {
        await tried(segment, 'a segment without records could not be removed', rm(join(folder, segmentName(segment)), { force: true }));
        forget(segment);
      }
    }
    log.error({ folder, cause: messageOf(error) }, 'nothing could be written to the log');
    return new SvcError('unavailable', `nothing can be stored at the moment (${messageOf(error)}): free some space in ${folder}, then it goes on by itself`, {
      cause: error,
      retryAfterSeconds,
    });
  }

  return {
    replay,
    append(...parts) {
      const length = sizeOf(parts);
      const problem = refusal(length);
      if (problem !== undefined) {
        return Promise.reject(problem);
      }
      queued += length;
      return new Promise((resolve, reject) => enqueue({ parts, length, resolve, reject }));
    },
    cut() {
      return closed ? Promise.reject(closedError()) : new Promise((resolve, reject) => enqueue({ cut: true, resolve, reject }));
    },
    async drop(below) {
      for (const segment of [...sizes.keys()]) {
        if (segment < below && segment !== current?.segment) {
          await rm(join(folder, segmentName(segment)), { force: true });
          forget(segment);
        }
      }
      await syncFolder(folder);
    },
    get bytes() {
      return bytes;
    },
    get segment() {
      return current?.segment ?? next;
    },
    damage,
    async close() {
      closed = true;
      await flushed;
      await retire();
    },
  };

  function refusal(length: number): SvcError | undefined {
    if (closed) {
      return closedError();
    }
    if (length === 0 || length > largestRecord) {
      return new SvcError('invalid_argument', `a record has ${length} bytes; from 1 to ${largestRecord} can be stored`);
    }
    if (queued + length > largestQueue && queued > 0) {
      return new SvcError('rate_limited', 'the disk does not keep up with what is sent: wait a moment', { retryAfterSeconds: 1 });
    }
    return bytes + queued + length > maxBytes
      ? new SvcError('unavailable', `the log in ${folder} holds ${bytes} bytes that are not in blocks yet: wait until they are`, { retryAfterSeconds })
      : undefined;
  }
}

const closedError = (): SvcError => new SvcError('unavailable', 'the store is closed', { retryAfterSeconds });
