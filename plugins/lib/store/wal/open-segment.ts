import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf, type MessageCode } from 'svc/sdk';
import { sizeOf, type WalFile, type WalFiles } from './wal-files.ts';
import { headerBytes, seal, segmentHeader, segmentName } from './wal-segment.ts';

export interface SegmentPlace {
  readonly folder: string;
  readonly log: Logger;
  readonly files: WalFiles;
}

/** The segment that takes appends, until it is sealed or a write fails. */
export class OpenSegment {
  readonly number: number;
  readonly #place: SegmentPlace;
  readonly #file: WalFile;
  #size = headerBytes;

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

  /** Up to the end of the last record that is on disk. */
  get size(): number {
    return this.#size;
  }

  writeHeader(): Promise<void> {
    return this.#file.write([segmentHeader(this.number)], 0);
  }

  /** Appends frames; they are on disk when it resolves. */
  async append(frames: readonly Uint8Array[]): Promise<void> {
    const written = sizeOf(frames);
    await this.#file.write(frames, this.#size);
    await this.#file.sync();
    this.#size += written;
  }

  /** Ends the segment in order. A seal that cannot be written is only missed. */
  async finish(): Promise<void> {
    try {
      await this.append([seal()]);
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
   * the last acknowledged record, and a second sync could lie, so that part is truncated. Returns
   * whether the segment is gone, because it held no record.
   */
  async abandon(): Promise<boolean> {
    await this.#cutBack();
    await this.#close();
    if (this.#size > headerBytes) {
      return false;
    }
    const path = join(this.#place.folder, segmentName(this.number));
    await this.#attempt(
      'wal.remove_failed',
      'could not remove the empty WAL segment; the next start does',
      rm(path, { force: true }),
    );
    return true;
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
