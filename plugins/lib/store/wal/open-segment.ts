import { join } from 'node:path';

import { type Logger, messageOf, type MessageCode } from 'svc/sdk';
import { crc32 } from '../bytes/crc32.ts';
import { type ListCopy, sizeOf, type WalFile, type WalFiles } from './wal-files.ts';
import {
  type Framed,
  headerBytes,
  seal,
  type SegmentContent,
  segmentHeader,
  segmentName,
} from './wal-segment.ts';

export interface SegmentPlace {
  readonly folder: string;
  readonly log: Logger;
  readonly files: WalFiles;
  /** Copy of the list of segments. */
  readonly copy?: ListCopy | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** The segment that takes appends, until it is sealed or a write fails. */
export class OpenSegment {
  readonly number: number;
  readonly #place: SegmentPlace;
  readonly #file: WalFile;
  #size = 0;
  #records = 0;
  #sum = 0;

  static async create(place: SegmentPlace, number: number): Promise<OpenSegment> {
    return new OpenSegment(
      place,
      number,
      await place.files.create(join(place.folder, segmentName(number))),
    );
  }

  private constructor(place: SegmentPlace, number: number, file: WalFile) {
    this.#place = place;
    this.number = number;
    this.#file = file;
  }

  /** Up to the end of the last record that is on disk; 0 until the header is. */
  get size(): number {
    return this.#size;
  }

  /** Content up to there. */
  get content(): SegmentContent {
    return { bytes: this.#size, records: this.#records, sum: this.#sum };
  }

  async writeHeader(): Promise<void> {
    await this.#file.write([segmentHeader(this.number)], 0);
    this.#size = headerBytes;
  }

  /** Appends records; they are on disk when it resolves. */
  async append({ written, frames, records }: Framed): Promise<void> {
    await this.#write(written);
    this.#records += records;
    this.#sum = crc32(frames, this.#sum);
  }

  /** Ends the segment in order. A seal that cannot be written is only missed. */
  async finish(): Promise<void> {
    try {
      await this.#write([seal()]);
    } catch (error) {
      this.#warn(
        'wal.seal_failed',
        'could not seal the WAL segment; replay reads it without its seal',
        error,
      );
      await this.#cutBack();
    }
    await this.#close();
  }

  /**
   * Abandons the segment after a failed write or sync: nobody knows what the file contains after
   * the last acknowledged record, and a second sync could lie, so that part is truncated.
   */
  async abandon(): Promise<void> {
    await this.#cutBack();
    await this.#close();
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    await this.#file.write(parts, this.#size);
    await this.#file.sync();
    this.#size += sizeOf(parts);
  }

  #cutBack(): Promise<void> {
    return this.#attempt(
      'wal.truncate_failed',
      'could not truncate the WAL segment; replay skips what follows its last record',
      this.#file.truncate(this.#size),
    );
  }

  #close(): Promise<void> {
    return this.#attempt('wal.close_failed', 'could not close the WAL segment', this.#file.close());
  }

  /**
   * Runs a step after which the log continues either way: replay copes with what it leaves behind.
   */
  async #attempt(event: MessageCode, message: string, step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      this.#warn(event, message, error);
    }
  }

  #warn(event: MessageCode, message: string, error: unknown): void {
    const { folder, log } = this.#place;
    log.warn({ event, folder, segment: this.number, cause: messageOf(error) }, message);
  }
}
