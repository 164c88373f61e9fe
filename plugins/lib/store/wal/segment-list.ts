import { readFile } from 'node:fs/promises';

import { messageOf } from 'svc/sdk';

import { summed, unsummed } from '../bytes/summed.ts';
import { setAside } from '../bytes/set-aside.ts';
import type { SegmentPlace } from './open-segment.ts';
import type { SegmentContent } from './wal-segment.ts';

/** One segment as it is known from outside it. */
export interface ListedSegment {
  readonly number: number;
  /** Milliseconds since 1970 when it was begun, if a clock was given. */
  readonly began?: number | undefined;
  /** Content when it ended; undefined while it may still grow, and so end anywhere. */
  readonly content?: SegmentContent | undefined;
}

interface Written {
  /** The greatest number that a segment ever had. */
  readonly last: number;
  readonly segments: readonly ListedSegment[];
}

const listPath = (folder: string): string => `${folder}.segments`;

/**
 * List of the segments that a log has, in a file beside its folder: a segment that is not there any
 * more, or has become shorter, is missed. A segment is on the list only while its file exists: it
 * is entered once it has its name, before its first record is acknowledged, and leaves the list
 * before its file is removed. A kill between any two steps therefore leaves nothing to be missed.
 */
export class SegmentList {
  readonly #place: SegmentPlace;
  readonly #segments: Map<number, ListedSegment>;
  #last: number;
  /** A write that begins later, and so has all changes up to then. */
  #waiting: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();

  /** Opens the list; `damaged` is what became of one that could not be read. */
  static async open(
    place: SegmentPlace,
  ): Promise<{ readonly list: SegmentList; readonly damaged?: string }> {
    const { folder, log } = place;
    const path = listPath(folder);
    const text = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw error;
      }
      return undefined;
    });
    const bytes = text && unsummed(text);
    if (bytes !== undefined) {
      return { list: new SegmentList(place, JSON.parse(bytes.toString()) as Written) };
    }
    const copy = copied(place);
    const list = new SegmentList(place, copy ?? { last: 0, segments: [] });
    if (text === undefined) {
      if (copy !== undefined) {
        log.error(
          { event: 'wal.list_missing', folder },
          'list of WAL segments was missing; restored it from its copy in the catalogue',
        );
      }
      return { list };
    }
    const kept = setAside(path);
    if (copy !== undefined) {
      log.error(
        { event: 'wal.list_restored', folder, kept },
        'list of WAL segments is damaged; set it aside and restored it from its copy in the catalogue',
      );
      return { list };
    }
    log.error(
      { event: 'wal.list_damaged', folder, kept },
      'list of WAL segments is damaged and was set aside; segments that are already missing will go undetected',
    );
    return { list, damaged: kept };
  }

  private constructor(place: SegmentPlace, { last, segments }: Written) {
    this.#place = place;
    this.#last = last;
    this.#segments = new Map(segments.map((segment) => [segment.number, segment]));
  }

  get last(): number {
    return this.#last;
  }

  get numbers(): number[] {
    return [...this.#segments.keys()];
  }

  get(number: number): ListedSegment | undefined {
    return this.#segments.get(number);
  }

  set(segment: ListedSegment): void {
    this.#last = Math.max(this.#last, segment.number);
    this.#segments.set(segment.number, segment);
  }

  remove(number: number): void {
    this.#segments.delete(number);
  }

  /** Resolves when all changes so far are on disk. */
  save(): Promise<void> {
    this.#waiting ??= this.#write(this.#running);
    return this.#waiting;
  }

  async #write(before: Promise<void>): Promise<void> {
    // Its own callers hear of an error.
    await before.catch(() => undefined);
    this.#waiting = undefined;
    const segments = [...this.#segments.values()].sort((a, b) => a.number - b.number);
    const written: Written = { last: this.#last, segments };
    const { files, folder } = this.#place;
    const bytes = summed(Buffer.from(JSON.stringify(written)));
    this.#running = files.replace(listPath(folder), bytes).then(() => this.#writeCopy(bytes));
    await this.#running;
  }

  /** Writes the copy. The file counts: a copy that cannot be written is only older. */
  #writeCopy(bytes: Uint8Array): void {
    const { copy, folder, log } = this.#place;
    try {
      copy?.write(bytes);
    } catch (error) {
      log.warn(
        { event: 'wal.list_copy_failed', folder, cause: messageOf(error) },
        'failed to copy the WAL segment list to the catalogue; retrying at its next change',
      );
    }
  }
}

/** Returns the list from its copy; undefined if there is none that can be read. */
function copied({ copy, folder, log }: SegmentPlace): Written | undefined {
  try {
    const text = copy?.read();
    const bytes = text && unsummed(Buffer.from(text));
    return bytes && (JSON.parse(bytes.toString()) as Written);
  } catch (error) {
    log.warn(
      { event: 'wal.list_copy_unreadable', folder, cause: messageOf(error) },
      'failed to read the copy of the WAL segment list',
    );
    return undefined;
  }
}
