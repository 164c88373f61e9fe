import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';

import { readText, writeText } from 'svc/tunnel';

import { crc32c } from './crc32c.ts';
import { cutBefore, isBefore, type Place, type Range, readRanges, split } from './ranges.ts';
import type { BufferRecord } from './record.ts';
import { countItems, type Damage, recordAt, scan, type Segment } from './segment.ts';

export const segmentBytes = 1024 * 1024;
const segmentName = /^(\d{10})\.seg$/;

/** Next record to send, with its position for `left`. */
export interface Next {
  readonly record: BufferRecord;
  /** True for data that has waited, false for new data. */
  readonly replayed: boolean;
  readonly bytes: number;
  readonly range: Range;
  readonly end: Place;
}

/** Unsent bytes that are lost, because the file no longer holds the records that they were. */
export interface Loss extends Pick<Damage, 'from' | 'to'> {
  readonly file: string;
  readonly bytes: number;
}

type OnLoss = (loss: Loss) => void;

/** One signal's records on disk, in the order they came. Writers take turns; reading and writing do not meet. */
export class Queue {
  readonly #folder: string;
  readonly #segments: Segment[] = [];
  #ranges: Range[] = [];
  #writing: { segment: Segment; handle: FileHandle } | undefined;
  #reading: { seq: number; handle: FileHandle } | undefined;
  #unsynced = false;
  #moved = false;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Finds what an earlier process left, and cuts what its end has torn. `lost` is called for a tail
   * that was whole once.
   */
  static async open(folder: string, lost: OnLoss): Promise<Queue> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const queue = new Queue(folder);
    const names = (await readdir(folder)).filter((name) => segmentName.test(name)).sort();
    let cut: Damage | undefined;
    for (const [index, name] of names.entries()) {
      const file = join(folder, name);
      const seq = Number(segmentName.exec(name)![1]);
      const { size: length } = await stat(file);
      if (index < names.length - 1) {
        queue.#segments.push({ seq, file, size: length, items: undefined, firstAt: undefined });
        continue;
      }
      const { size, items, firstAt, damage } = await scan(file);
      if (size < length) {
        await truncate(file, size);
      }
      cut = damage.find(({ at }) => at === size);
      queue.#segments.push({ seq, file, size, items, firstAt });
    }
    queue.#ranges = cutBefore(await queue.#recall(), queue.#segments[0]?.seq ?? 0);
    const last = queue.#segments.at(-1);
    if (cut && last && queue.#isUnsent(last.seq, cut)) {
      lost(lossOf(last.file, cut));
    }
    const end = queue.#end();
    // A position beyond the end belongs to a torn tail.
    queue.#ranges = queue.#ranges.map(({ from, to }) => ({
      from: isBefore(end, from) ? end : from,
      to: to && isBefore(end, to) ? end : to,
    }));
    queue.#ranges = split(queue.#ranges, end);
    await queue.#forgetLeft();
    return queue;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  /** True if nothing waits. */
  get empty(): boolean {
    const end = this.#end();
    return this.#ranges.every(({ from, to }) => !isBefore(from, to ?? end));
  }

  get oldestAt(): number | undefined {
    return this.empty
      ? undefined
      : this.#segments.find(({ firstAt }) => firstAt !== undefined)?.firstAt;
  }

  /** Appends a record; it is not guaranteed to survive a power cut until `sync`. */
  async append(bytes: Uint8Array, items: number, at: number): Promise<void> {
    if (
      this.#writing &&
      this.#writing.segment.size > 0 &&
      this.#writing.segment.size + bytes.length > segmentBytes
    ) {
      await this.#writing.handle.datasync();
      await this.#writing.handle.close();
      this.#writing = undefined;
    }
    const writing = (this.#writing ??= await this.#begin(bytes.length));
    const { segment, handle } = writing;
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await handle.write(
          bytes,
          written,
          bytes.length - written,
          segment.size + written,
        );
        if (bytesWritten === 0) {
          throw Object.assign(new Error('the file takes no more bytes'), { code: 'ENOSPC' });
        }
        written += bytesWritten;
      }
    } catch (error) {
      await handle.truncate(segment.size);
      throw error;
    }
    segment.size += bytes.length;
    segment.items = (segment.items ?? 0) + items;
    segment.firstAt ??= at;
    this.#unsynced = true;
  }

  /**
   * Makes appended records survive a power cut, and keeps sent ones from being sent again after a
   * kill.
   */
  async sync(): Promise<void> {
    if (this.#unsynced) {
      this.#unsynced = false;
      await this.#writing?.handle.datasync();
    }
    if (this.#moved) {
      this.#moved = false;
      try {
        writeText(join(this.#folder, 'left.json'), sealed(JSON.stringify(this.#ranges)), false);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
          throw error;
        }
        // What was appended is safe all the same; the next sync tries again, and after a kill
        // before that some of it is sent twice.
        this.#moved = true;
      }
    }
  }

  /**
   * Returns the next record, new ones first; `replay` also allows those that have waited. `lost` is
   * called for corrupt bytes.
   */
  async next(replay: boolean, lost: OnLoss): Promise<Next | undefined> {
    const [fresh] = this.#ranges.slice(-1) as [Range];
    const waited = this.#ranges.length > 1 ? this.#ranges[0] : undefined;
    const next =
      (await this.#read(fresh, false, lost)) ??
      (replay && waited ? await this.#read(waited, true, lost) : undefined);
    if (!next && replay && waited) {
      // All of it has left, or is gone.
      this.#ranges = this.#ranges.filter((range) => range !== waited);
      this.#moved = true;
      await this.#forgetLeft();
    }
    return next;
  }

  get hasWaited(): boolean {
    return this.#ranges.length > 1;
  }

  /** Marks a record as sent, or dropped for good. */
  async left({ range, end }: Pick<Next, 'range' | 'end'>): Promise<void> {
    if (isBefore(range.from, end)) {
      range.from = end;
    }
    this.#ranges = this.#ranges.filter((one) => one.to === undefined || isBefore(one.from, one.to));
    this.#moved = true;
    await this.#forgetLeft();
  }

  /** Marks everything unsent as waiting; later records go before it. */
  markWaiting(): void {
    this.#ranges = split(this.#ranges, this.#end());
    this.#moved = true;
  }

  /**
   * Drops the oldest segment; returns how many items are lost with it, or undefined if there is
   * none to drop.
   */
  async dropOldest(): Promise<number | undefined> {
    const [oldest] = this.#segments;
    if (!oldest) {
      return undefined;
    }
    const unsent = this.#ranges.filter(
      ({ from, to }) => from.seq <= oldest.seq && (to === undefined || to.seq >= oldest.seq),
    );
    let items = 0;
    for (const { from, to } of unsent) {
      items += await countItems(
        oldest.file,
        from.seq < oldest.seq ? 0 : from.offset,
        to?.seq === oldest.seq ? to.offset : oldest.size,
      );
    }
    await this.#remove(oldest);
    const after = this.#segments[0]?.seq ?? oldest.seq + 1;
    this.#ranges = cutBefore(this.#ranges, after);
    this.#moved = true;
    return items;
  }

  async close(): Promise<void> {
    await this.sync();
    await this.#writing?.handle.close();
    await this.#reading?.handle.close();
    this.#writing = undefined;
    this.#reading = undefined;
  }

  async #read(range: Range, replayed: boolean, lost: OnLoss): Promise<Next | undefined> {
    for (;;) {
      const segment = this.#segments.find(({ seq }) => seq >= range.from.seq);
      const end = range.to ?? this.#end();
      if (!segment || !isBefore(range.from, end)) {
        return undefined;
      }
      const offset = segment.seq === range.from.seq ? range.from.offset : 0;
      const limit = segment.seq === end.seq ? end.offset : segment.size;
      const found =
        offset < limit
          ? await recordAt(await this.#reader(segment), offset, segment.size)
          : undefined;
      if (found !== undefined && found !== 'damaged') {
        return {
          record: found.record,
          replayed,
          bytes: found.next - offset,
          range,
          end: { seq: segment.seq, offset: found.next },
        };
      }
      if (found === 'damaged') {
        await this.#passOver(range, segment, offset, lost);
        continue;
      }
      if (segment.seq >= end.seq) {
        return undefined;
      }
      await this.left({ range, end: { seq: segment.seq + 1, offset: 0 } });
    }
  }

  /** Moves the range behind what is no record at `offset`, and tells what is lost with it. */
  async #passOver(
    range: Range,
    { seq, file, size }: Segment,
    offset: number,
    lost: OnLoss,
  ): Promise<void> {
    const { damage, size: whole } = await scan(file);
    const here =
      damage.find(({ at, end }) => at <= offset && offset < end) ??
      (offset >= whole ? { at: offset, end: size, from: undefined, to: undefined } : undefined);
    if (here === undefined) {
      // All is well there, so the place that was remembered is wrong: the manager notices what comes twice.
      range.from = { seq, offset: 0 };
      return;
    }
    lost(lossOf(file, here));
    await this.left({ range, end: { seq, offset: Math.min(here.end, size) } });
  }

  #isUnsent(seq: number, { at, end }: Damage): boolean {
    const [begins, ends] = [
      { seq, offset: at },
      { seq, offset: end },
    ];
    return this.#ranges.some(
      ({ from, to }) => isBefore(from, ends) && (to === undefined || isBefore(begins, to)),
    );
  }

  async #reader({ seq, file }: Segment): Promise<FileHandle> {
    if (this.#reading?.seq !== seq) {
      await this.#reading?.handle.close();
      this.#reading = undefined;
      this.#reading = { seq, handle: await open(file, 'r') };
    }
    return this.#reading.handle;
  }

  #end(): Place {
    const last = this.#segments.at(-1);
    return last
      ? { seq: last.seq, offset: last.size }
      : (this.#ranges.at(-1)?.from ?? { seq: 1, offset: 0 });
  }

  async #begin(bytes: number): Promise<{ segment: Segment; handle: FileHandle }> {
    const last = this.#segments.at(-1);
    if (last && last.size > 0 && last.size + bytes <= segmentBytes) {
      return { segment: last, handle: await open(last.file, constants.O_RDWR) };
    }
    const seq = Math.max(
      (last?.seq ?? 0) + 1,
      ...this.#ranges.map(({ from }) => from.seq + (from.offset > 0 ? 1 : 0)),
      1,
    );
    const file = join(this.#folder, `${String(seq).padStart(10, '0')}.seg`);
    const handle = await open(file, 'wx', 0o600);
    const segment: Segment = { seq, file, size: 0, items: 0, firstAt: undefined };
    this.#segments.push(segment);
    return { segment, handle };
  }

  /** Deletes segments without unsent records, except the one being written. */
  async #forgetLeft(): Promise<void> {
    const oldest = this.#ranges.reduce((least, { from }) => Math.min(least, from.seq), Infinity);
    for (const segment of this.#segments.filter(({ seq }) => seq < oldest)) {
      await this.#remove(segment);
    }
    const [only] = this.#segments;
    if (this.#segments.length === 1 && only!.size >= segmentBytes && this.empty) {
      await this.#remove(only!);
      this.#ranges = [{ from: { seq: only!.seq + 1, offset: 0 }, to: undefined }];
    }
  }

  async #remove(segment: Segment): Promise<void> {
    if (this.#writing?.segment === segment) {
      await this.#writing.handle.close();
      this.#writing = undefined;
    }
    if (this.#reading?.seq === segment.seq) {
      await this.#reading.handle.close();
      this.#reading = undefined;
    }
    this.#segments.splice(this.#segments.indexOf(segment), 1);
    await rm(segment.file, { force: true });
  }

  async #recall(): Promise<Range[]> {
    const text = readText(join(this.#folder, 'left.json'));
    try {
      const ranges = text === undefined ? undefined : readRanges(JSON.parse(opened(text)));
      if (ranges) {
        return ranges;
      }
    } catch {
      // Damaged: everything is sent again, which the manager notices.
    }
    return [{ from: { seq: this.#segments[0]?.seq ?? 1, offset: 0 }, to: undefined }];
  }
}

const lossOf = (file: string, { at, end, from, to }: Damage): Loss => ({
  file,
  bytes: end - at,
  from,
  to,
});

/** A damaged place could pass over what is unsent: the text is followed by its checksum. */
const sealed = (text: string): string => `${text}\n${crc32c(Buffer.from(text)).toString(16)}`;

/** Returns what was sealed; earlier agents wrote it without a checksum. */
function opened(text: string): string {
  const [content = '', checksum] = text.split('\n');
  if (checksum !== undefined && sealed(content) !== text) {
    throw new Error('the checksum is not that of the text');
  }
  return content;
}
