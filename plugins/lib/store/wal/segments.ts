import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';
import { OpenSegment, type SegmentPlace } from './open-segment.ts';
import { type ListedSegment, SegmentList } from './segment-list.ts';
import { SegmentWatch } from './segment-watch.ts';
import { syncFolder } from './wal-files.ts';
import { absenceOf, replaySegment, type WalDamage } from './wal-replay.ts';
import { droppedName, type SegmentContent, segmentName, segmentsIn } from './wal-segment.ts';

export interface WalReplay {
  readonly records: number;
  readonly segments: number;
  /** Bytes of writes that a crash truncated and that were never acknowledged; they are removed. */
  readonly tornBytes: number;
}

type Each = (record: Buffer, segment: number) => void | Promise<void>;

/** All segments of a log on disk, with the list that tells when one is missing. */
export class Segments {
  readonly #place: SegmentPlace;
  readonly #list: SegmentList;
  /** The greatest number on the list when it was read. */
  readonly #listed: number;
  /** Size on disk by number, oldest first. */
  readonly #sizes: Map<number, number>;
  /** Segments whose files may be removed once the list is saved without them. */
  readonly #leaving: Set<number>;
  /** Damage that replay found, with what can be read of each segment; undefined of a missing one. */
  readonly #lost = new Map<number, SegmentContent | undefined>();
  readonly #damage: WalDamage[] = [];
  /** Damaged segments during a replay, which nobody has written down: they are not dropped meanwhile. */
  readonly #untold = new Set<number>();
  readonly #watch: SegmentWatch;
  #current: OpenSegment | undefined;
  #bytes: number;
  #next: number;

  /** `after`: a number of an earlier segment. */
  static async open(place: SegmentPlace, after: number): Promise<Segments> {
    const { folder } = place;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { list, damaged } = await SegmentList.open(place);
    const { kept, dropped } = await segmentsIn(folder);
    const sizes = new Map<number, number>();
    for (const number of kept) {
      sizes.set(number, (await stat(join(folder, segmentName(number)))).size);
    }
    const segments = new Segments(place, { list, sizes, dropped, after });
    if (damaged !== undefined) {
      const what = `damaged, kept as ${damaged}: a segment that was missing then is not missed`;
      segments.#damage.push({ segment: 'the list of WAL segments', what });
    }
    return segments;
  }

  private constructor(
    place: SegmentPlace,
    {
      list,
      sizes,
      dropped,
      after,
    }: {
      readonly list: SegmentList;
      readonly sizes: Map<number, number>;
      readonly dropped: readonly number[];
      readonly after: number;
    },
  ) {
    this.#place = place;
    this.#list = list;
    this.#listed = list.last;
    this.#sizes = sizes;
    this.#leaving = new Set(dropped);
    dropped.forEach((number) => list.remove(number));
    this.#bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    this.#next = Math.max(after, list.last, ...sizes.keys(), ...dropped) + 1;
    this.#watch = new SegmentWatch(place);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The segment that takes appends. */
  get current(): OpenSegment | undefined {
    return this.#current;
  }

  /** Number of the segment that is begun next. */
  get next(): number {
    return this.#next;
  }

  /** The first segment, also a missing one; undefined while there is none. */
  get oldest(): number | undefined {
    const [first] = [...this.#sizes.keys(), ...this.#list.numbers].sort((a, b) => a - b);
    return first;
  }

  /** Returns whether a segment is there, or should be. */
  has(number: number): boolean {
    return this.#sizes.has(number) || this.#list.get(number) !== undefined;
  }

  /** Damage that replay found. */
  get damage(): readonly WalDamage[] {
    return this.#damage;
  }

  /** Damage since then, of segments whose records are still in memory. */
  get problems(): readonly WalDamage[] {
    return this.#watch.problems;
  }

  hasProblem(number: number): boolean {
    return this.#watch.has(number);
  }

  /** Passes on all whole records, oldest first; damaged ones are skipped, and missing ones missed. */
  async replay(each: Each): Promise<WalReplay> {
    const { folder, log } = this.#place;
    const absent = this.#list.numbers.filter((number) => !this.#sizes.has(number));
    absent.forEach((number) => this.#untold.add(number));
    const segments = [...this.#sizes.keys()];
    let [records, tornBytes, isForeign] = [0, 0, false];
    for (const number of segments) {
      const known = this.#list.get(number) ?? { number };
      const { what, content, ...found } = await replaySegment(folder, known, each, log);
      records += content.records;
      tornBytes += found.tornBytes;
      isForeign ||= number > this.#listed && content.records > 0;
      this.#setSize(number, content.bytes);
      if (what !== undefined) {
        this.#untold.add(number);
        this.#lose(known, what, content);
      } else if (content.bytes === 0) {
        this.#forget(number);
        this.#leaving.add(number);
      } else {
        this.#list.set({ ...known, content });
      }
    }
    this.#missAbsent(absent, isForeign && this.#listed > 0);
    await this.#tidy();
    this.#untold.clear();
    return { records, segments: segments.length, tornBytes };
  }

  /** Begins the segment that takes appends from now on. */
  async begin(): Promise<OpenSegment> {
    const segment = await OpenSegment.create(this.#place, this.#next++);
    this.#current = segment;
    this.#setSize(segment.number, segment.size);
    this.#list.set({ number: segment.number, began: this.#place.now?.() });
    await this.#list.save();
    await segment.writeHeader();
    this.#setSize(segment.number, segment.size);
    return segment;
  }

  /** Notes that the current segment has grown. */
  grown({ number, size }: OpenSegment): void {
    this.#setSize(number, size);
  }

  /** Ends the current segment in order; the next append begins another. */
  async retire(): Promise<void> {
    const ended = this.#current;
    this.#current = undefined;
    if (ended !== undefined) {
      await ended.finish();
      await this.#end(ended);
    }
  }

  /** Gives up the current segment after a failed write; one without a record goes. */
  async abandon(): Promise<void> {
    const failed = this.#current;
    this.#current = undefined;
    await failed?.abandon();
    if (failed !== undefined && failed.content.records > 0) {
      await this.#end(failed);
    } else if (failed !== undefined) {
      this.#forget(failed.number);
      this.#leaving.add(failed.number);
      await this.#tidy();
    }
  }

  /** Deletes the segments below this number. */
  async drop(below: number): Promise<void> {
    const { folder, files } = this.#place;
    const isGone = (number: number): boolean =>
      number < below && number !== this.#current?.number && !this.#untold.has(number);
    const gone = [...this.#sizes.keys()].filter(isGone);
    const numbers = [...gone, ...this.#list.numbers.filter(isGone)];
    if (numbers.length === 0) {
      return;
    }
    numbers.forEach((number) => {
      this.#forget(number);
      this.#leaving.add(number);
    });
    for (const number of gone) {
      await files
        .rename(join(folder, segmentName(number)), join(folder, droppedName(number)))
        .catch(unlessAbsent);
    }
    await syncFolder(folder);
    await this.#tidy();
  }

  /** Looks whether all segments are there and long enough; `full` reads them as well. */
  async look({ full }: { readonly full: boolean }): Promise<void> {
    const open = this.#current;
    const watched = this.#list.numbers.flatMap((number) => {
      const known = this.#list.get(number)!;
      const content = number === open?.number ? open.content : known.content;
      // One whose header is being written has nothing that could be missing.
      return content === undefined || content.bytes === 0 || this.#lost.has(number)
        ? []
        : [{ ...known, content }];
    });
    await this.#watch.look(watched, full, (number) => this.#sizes.has(number));
  }

  /** Takes what replay could not read for gone: it is not missed any more. */
  async accept(): Promise<void> {
    for (const [number, content] of this.#lost) {
      if (content === undefined) {
        this.#list.remove(number);
      } else if (this.#sizes.has(number)) {
        this.#list.set({ ...this.#list.get(number), number, content });
      }
    }
    this.#lost.clear();
    this.#damage.length = 0;
    await this.#tidy();
  }

  /**
   * Reports segments that are on the list and not on disk. A version that keeps no list drops segments without
   * a note.
   */
  #missAbsent(absent: readonly number[], isForeign: boolean): void {
    const { folder, log } = this.#place;
    for (const number of absent) {
      const known = this.#list.get(number)!;
      if (isForeign || known.content?.records === 0) {
        log.info(
          { event: 'wal.segment_gone', folder, segment: number },
          'WAL segment no longer exists; another version of svc has used this WAL since the segment was listed',
        );
        this.#list.remove(number);
      } else {
        this.#lose(known, absenceOf(known), undefined);
      }
    }
  }

  #lose({ number, began }: ListedSegment, what: string, content: SegmentContent | undefined): void {
    const { folder, log } = this.#place;
    const segment = segmentName(number);
    this.#lost.set(number, content);
    this.#damage.push({ segment, what, began });
    log.error(
      { event: 'wal.damaged', folder, segment: number },
      `WAL segment ${segment} is ${what}`,
    );
  }

  async #end(segment: OpenSegment): Promise<void> {
    const { number, size, content } = segment;
    const known = this.#list.get(number);
    // It may have been dropped while it ended.
    if (known !== undefined) {
      this.#setSize(number, size);
      this.#list.set({ ...known, content });
      await this.#tidy();
    }
  }

  /**
   * Saves the list, and removes the files of segments that have left it. On a full disk they give
   * back their space first. What fails is done at the next change, or the next start.
   */
  async #tidy(): Promise<void> {
    const { folder, files, log } = this.#place;
    const leaving = [...this.#leaving];
    const pathsBy = (name: (number: number) => string): string[] =>
      leaving.map((number) => join(folder, name(number)));
    try {
      await this.#list.save().catch(async () => {
        for (const path of pathsBy(droppedName)) {
          await files.empty(path).catch(unlessAbsent);
        }
        await this.#list.save();
      });
      // One that still has its own name held no record.
      for (const path of [...pathsBy(droppedName), ...pathsBy(segmentName)]) {
        await files.remove(path);
      }
      leaving.forEach((number) => this.#leaving.delete(number));
    } catch (error) {
      log.warn(
        { event: 'wal.list_failed', folder, cause: messageOf(error) },
        'failed to save the WAL segment list; retrying at its next change',
      );
    }
  }

  #setSize(number: number, size: number): void {
    this.#bytes += size - (this.#sizes.get(number) ?? 0);
    this.#sizes.set(number, size);
  }

  #forget(number: number): void {
    this.#bytes -= this.#sizes.get(number) ?? 0;
    this.#sizes.delete(number);
    this.#list.remove(number);
    this.#lost.delete(number);
    this.#watch.forget(number);
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') {
    throw error;
  }
}
