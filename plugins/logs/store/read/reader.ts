import { join } from 'node:path';

import { type Budget, type Matcher } from 'svc/query';
import {
  type BlockFile,
  type Catalogue,
  type DamageTracker,
  decompress,
  openBlock,
  type SectionCache,
  Unpacker,
} from 'svc/store';

import type { LogBatch, LogSource, SelectOptions } from '../../logql/lines/source.ts';
import type { ChunkRow, ChunkTable } from '../blocks/chunk-table.ts';
import { chunkLines, decodeChunk } from '../blocks/chunk.ts';
import type { SealedChunk, Stream, StreamTable } from '../head/stream-table.ts';
import type { Columns } from '../lines/columns.ts';
import type { Nanos } from '../lines/nanos.ts';
import { type Piece, Pieces } from './pieces.ts';
import { mayHold, needlesOf } from './prefilter.ts';
import { isBeyond, StreamReader } from './stream-reader.ts';
import { TurnQueue } from './turn-queue.ts';

export interface ReaderParts {
  readonly streams: StreamTable;
  readonly chunks: ChunkTable;
  readonly catalogue: Catalogue;
  readonly cache: SectionCache;
  readonly damage: DamageTracker;
}

const maxOpenFiles = 64;
/** Cache key of chunks that are in no block; no block has this name. */
const sealedPath = 'sealed';

/** Finds and reads what is asked for, chunk by chunk, from blocks and from memory. */
export class Reader {
  readonly #parts: ReaderParts;
  /** Files by name, least recently used first. */
  readonly #files = new Map<string, BlockFile>();
  readonly #unpacker = new Unpacker();

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  source(): LogSource {
    return {
      select: (matchers, start, end, options, budget) =>
        this.#select(matchers, start, end, options, budget),
    };
  }

  async *#select(
    matchers: readonly Matcher[],
    start: Nanos,
    end: Nanos,
    { direction, contains, bound = () => undefined }: SelectOptions,
    budget: Budget,
  ): AsyncGenerator<LogBatch> {
    const backward = direction === 'backward';
    const needles = needlesOf(contains);
    const window = {
      mint: start.ms,
      maxt: end.ns === 0 ? end.ms - 1 : end.ms,
      upTo: this.#parts.chunks.lastId(),
      backward,
    };
    const pieceOf = (row: ChunkRow): Piece => ({
      mint: row.mint,
      maxt: row.maxt,
      load: () => this.#load(row, needles, budget),
    });
    const options = { start, end, backward, needles, bound, pause: () => budget.breathe() };
    this.#parts.damage
      .touching(window.mint, window.maxt)
      .forEach((sentence) => budget.warn(sentence));
    const queue = new TurnQueue<StreamReader>(backward);
    // All at once, before the first wait: what is in memory now may be in a block a moment later, and must not be told twice.
    for (const stream of this.#parts.streams.matching(matchers)) {
      const pieces = new Pieces(
        stream,
        this.#heldPieces(stream, needles, budget),
        this.#parts.chunks,
        window,
        pieceOf,
      );
      queue.add(new StreamReader(stream.labels, pieces, options));
    }
    for (let reader = queue.take(); reader !== undefined; reader = queue.take()) {
      if (isBeyond(reader.edge!, bound(), backward)) {
        return;
      }
      for await (const entries of reader.turn()) {
        yield { labels: reader.labels, entries };
      }
      queue.add(reader);
    }
  }

  #load(row: ChunkRow, needles: readonly Buffer[], budget: Budget): Columns | undefined {
    try {
      const file = this.#file(row.file);
      budget.bytes(file.rawBytes(row.section));
      const chunk =
        needles.length === 0
          ? file.read(row.section)
          : file.search(row.section, this.#unpacker, holding(needles));
      return chunk && decodeChunk(chunk);
    } catch (error) {
      if (isRefusal(error)) {
        throw error;
      }
      this.#damaged(row, error, budget);
      return undefined;
    }
  }

  /** Returns what the stream has in memory at this moment. */
  #heldPieces(stream: Stream, needles: readonly Buffer[], budget: Budget): Piece[] {
    const pieces: Piece[] = stream.sealed.map((chunk) => ({
      mint: chunk.mint,
      maxt: chunk.maxt,
      load: () => {
        budget.bytes(chunk.rawLength);
        const bytes = this.#sealed(chunk, needles);
        return bytes && decodeChunk(bytes);
      },
    }));
    if (stream.head !== undefined && stream.head.count > 0) {
      const columns = stream.head.lend();
      pieces.push({
        mint: columns.ms[0]!,
        maxt: columns.ms[columns.count - 1]!,
        load() {
          budget.bytes(columns.lines.length);
          return needles.length > 0 && !mayHold(columns.lines, needles) ? undefined : columns;
        },
      });
    }
    return pieces;
  }

  #sealed(
    { number, packed: { codec, bytes }, rawLength }: SealedChunk,
    needles: readonly Buffer[],
  ): Uint8Array | undefined {
    const { cache } = this.#parts;
    return needles.length === 0
      ? cache.get(sealedPath, number, () => decompress(codec, bytes, rawLength))
      : cache.search(
          sealedPath,
          number,
          () => this.#unpacker.unpack(codec, bytes, rawLength),
          holding(needles),
        );
  }

  /** One chunk that cannot be read costs its lines, not the answer. */
  #damaged({ block, file, mint, maxt, lines }: ChunkRow, error: unknown, budget: Budget): void {
    const { catalogue, damage } = this.#parts;
    // Otherwise retention took it away while the question was on its way.
    if (catalogue.db.prepare('select 1 from blocks where id = ?').get(block) !== undefined) {
      budget.warn(damage.block({ id: block, file, mint, maxt }, error, `${lines} lines`));
    }
  }

  #file(name: string): BlockFile {
    const { catalogue, cache } = this.#parts;
    const file = this.#files.get(name) ?? openBlock(join(catalogue.blocksFolder, name), cache);
    this.#files.delete(name);
    this.#files.set(name, file);
    if (this.#files.size > maxOpenFiles) {
      this.forget(this.#files.keys().next().value!);
    }
    return file;
  }

  /** Drops a deleted block. */
  forget(file: string): void {
    this.#files.get(file)?.close();
    this.#files.delete(file);
  }

  close(): void {
    for (const file of [...this.#files.keys()]) {
      this.forget(file);
    }
    this.#unpacker.close();
  }
}

const holding =
  (needles: readonly Buffer[]) =>
  (chunk: Uint8Array): boolean =>
    mayHold(chunkLines(chunk), needles);

const isRefusal = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'kind' in error;
