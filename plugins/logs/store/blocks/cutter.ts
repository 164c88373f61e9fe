import { type Logger, messageOf } from 'svc/sdk';
import { type Budget, budget } from 'svc/query';
import {
  ByteWriter,
  type Catalogue,
  codecs,
  compress,
  type Compressed,
  type NewBlock,
  rowFor,
  writeBlock,
} from 'svc/store';

import type { Head } from '../head/head.ts';
import type { CutLimits } from '../head/limits.ts';
import type { SealedChunk, Stream, StreamTable } from '../head/stream-table.ts';
import { startOf } from '../lines/columns.ts';
import { describedChunks } from './block-content.ts';
import type { ChunkTable } from './chunk-table.ts';
import { encodeChunk } from './chunk.ts';

export interface CutterParts {
  readonly streams: StreamTable;
  readonly catalogue: Catalogue;
  readonly chunks: ChunkTable;
  readonly limits: CutLimits;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Cutter that moves lines from heads into blocks: a head is sealed into chunks, and ready chunks
 * make a block together.
 */
export class Cutter {
  readonly #parts: CutterParts;
  readonly #raw = new ByteWriter(512 * 1024);
  readonly #scratch = new ByteWriter(64 * 1024);
  #sealed: SealedChunk[] = [];
  /** Memory use of the sealed chunks. */
  #sealedBytes = 0;
  #sealedRawBytes = 0;
  #number = 0;
  #writing: Promise<void> | undefined;
  /** Why the last block could not be written; undefined since one could. */
  trouble: string | undefined;

  constructor(parts: CutterParts) {
    this.#parts = parts;
  }

  get sealedBytes(): number {
    return this.#sealedBytes;
  }

  get sealedRawBytes(): number {
    return this.#sealedRawBytes;
  }

  /** Looks only at the streams that grew since the last time. */
  async sealLarge(): Promise<void> {
    const { streams, limits } = this.#parts;
    const pace = this.#pace();
    for (const stream of streams.grown) {
      streams.grown.delete(stream);
      if (stream.head !== undefined && stream.head.lineBytes >= limits.chunkBytes) {
        this.seal(stream);
        await pace.breathe();
      }
    }
  }

  /** Seals heads that are idle or old. */
  sealDue(): Promise<void> {
    const { limits, now } = this.#parts;
    const time = now();
    return this.#sealEach(
      ({ touchedAt, bornAt }) =>
        time - touchedAt >= limits.idleMs || time - bornAt >= limits.oldestMs,
    );
  }

  /** Seals what began in an earlier segment of the log. */
  sealBefore(segment: number): Promise<void> {
    return this.#sealEach(({ firstSegment }) => firstSegment < segment);
  }

  async #sealEach(isDue: (head: Head) => boolean): Promise<void> {
    const pace = this.#pace();
    for (const stream of [...this.#parts.streams.active]) {
      if (stream.head !== undefined && isDue(stream.head)) {
        this.seal(stream);
        await pace.breathe();
      }
    }
  }

  seal(stream: Stream): void {
    const head = stream.head!;
    const columns = head.columns();
    const { chunkBytes } = this.#parts.limits;
    for (let from = 0; from < columns.count;) {
      const start = startOf(columns, from);
      let to = from + 1;
      while (to < columns.count && columns.ends[to]! - start <= chunkBytes) {
        to++;
      }
      const raw = encodeChunk(columns, from, to, this.#raw, this.#scratch);
      const packed = packedCopy(raw);
      const chunk: SealedChunk = {
        number: ++this.#number,
        stream,
        packed,
        rawLength: raw.length,
        count: to - from,
        lineBytes: columns.ends[to - 1]! - start,
        mint: columns.ms[from]!,
        maxt: columns.ms[to - 1]!,
        firstSegment: head.firstSegment,
        lastRecord: head.lastRecord,
        sealedAt: this.#parts.now(),
      };
      this.#sealed.push(chunk);
      this.#sealedBytes += packed.bytes.length;
      this.#sealedRawBytes += raw.length;
      stream.sealed.push(chunk);
      from = to;
    }
    this.#parts.streams.behead(stream);
  }

  /** True if enough is sealed, or has been for long enough, to be worth a file. */
  get isDue(): boolean {
    const { limits, now } = this.#parts;
    const [first] = this.#sealed;
    return (
      first !== undefined &&
      (this.#sealedRawBytes >= limits.blockBytes || now() - first.sealedAt >= limits.blockMs)
    );
  }

  /**
   * Writes everything that is sealed as one block; if that fails, chunks stay as they are and
   * remain readable.
   */
  write(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { catalogue, log, now } = this.#parts;
    const chunks = [...this.#sealed];
    if (chunks.length === 0) {
      return;
    }
    const lastRecord = chunks.reduce((most, chunk) => Math.max(most, chunk.lastRecord), 0);
    const pace = this.#pace();
    const description = describedChunks(
      chunks.map(({ stream: { labels }, mint, maxt, count, lineBytes, lastRecord: last }) => ({
        labels,
        mint,
        maxt,
        lines: count,
        bytes: lineBytes,
        lastRecord: last,
      })),
    );
    try {
      const block = await writeBlock(
        catalogue.blocksFolder,
        `${String(lastRecord).padStart(12, '0')}-${now().toString(36)}.block`,
        async (writer) => {
          for (const chunk of chunks) {
            writer.compressed(chunk.packed, chunk.rawLength);
            await pace.breathe();
          }
          writer.describe(description);
        },
      );
      this.#enter(rowFor(block, description), chunks);
      this.trouble = undefined;
    } catch (error) {
      this.trouble = `a block of ${chunks.length} chunks could not be written: ${messageOf(error)}`;
      log.error({ event: 'logs.cut_failed', cause: messageOf(error) }, this.trouble);
      throw error;
    }
  }

  #enter(block: NewBlock, written: readonly SealedChunk[]): void {
    const { catalogue, chunks } = this.#parts;
    const cuts = new Map<Stream, number>();
    catalogue.blocks.add(block, ({ id }) => {
      for (const [
        section,
        { stream, mint, maxt, count, lineBytes, lastRecord },
      ] of written.entries()) {
        if (!stream.stored && !cuts.has(stream)) {
          chunks.addStream(stream.id, stream.labels);
        }
        cuts.set(stream, Math.max(cuts.get(stream) ?? 0, lastRecord));
        chunks.add({
          block: id,
          section,
          stream: stream.id,
          mint,
          maxt,
          lines: count,
          bytes: lineBytes,
        });
      }
      for (const [stream, record] of cuts) {
        chunks.setCut(stream.id, record);
      }
    });
    const gone = new Set(written);
    for (const [stream, record] of cuts) {
      stream.stored = true;
      stream.cutRecord = record;
      stream.sealed = stream.sealed.filter((chunk) => !gone.has(chunk));
    }
    this.#sealed = this.#sealed.filter((chunk) => !gone.has(chunk));
    this.#sealedBytes = this.#sealed.reduce((sum, { packed }) => sum + packed.bytes.length, 0);
    this.#sealedRawBytes = this.#sealed.reduce((sum, { rawLength }) => sum + rawLength, 0);
  }

  #pace(): Budget {
    return budget({ timeoutMs: Infinity });
  }

  /** The first segment that holds lines which are in no block. */
  get floor(): number {
    let floor = Infinity;
    for (const stream of this.#parts.streams.active) {
      floor = Math.min(floor, stream.head!.firstSegment);
    }
    for (const { firstSegment } of this.#sealed) {
      floor = Math.min(floor, firstSegment);
    }
    return floor;
  }
}

/** A line looks like those shortly before it: within a near cache both ways are a sixth faster, for hardly a byte more. */
const windowBits = 16;

/**
 * Returns compressed data in its own memory, even if it did not shrink: the writer's memory is
 * reused.
 */
function packedCopy(raw: Uint8Array): Compressed {
  const packed = compress(raw, windowBits);
  return packed.codec === codecs.none ? { ...packed, bytes: raw.slice() } : packed;
}
