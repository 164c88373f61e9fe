import { stat } from 'node:fs/promises';

import { TokenBucket } from 'svc/flow';

import type { Draft } from '../lines/draft.ts';
import type { Group } from '../lines/group.ts';
import type { LineTimes } from '../lines/line-times.ts';
import { splitLines } from '../lines/split-lines.ts';
import type { OpenFile } from './open-file.ts';
import {
  beforeBytes,
  beginsWith,
  continues,
  type Head,
  headBytes,
  idOf,
  mtimeOf,
  type Place,
  readAt,
  readHead,
} from './place.ts';

export interface TailOptions {
  readonly times: LineTimes;
  readonly maxBytes: number;
  readonly bytesPerSecond: number;
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
}

export type Named = Pick<Place, 'path' | 'found'>;

/** Position at which reading of a file starts. */
export type Start = Pick<Place, 'offset' | 'before' | 'part'> & { readonly mtime?: number };

export const beginning: Start = { offset: 0, before: '', part: 0 };

const quantum = 64 * 1024;
/** Seconds' worth of the rate that may be read at once. */
const burstSeconds = 2;
/** Time for which a replaced file may still be written to. */
const graceMs = 10_000;

/** One file that is read, from where it was left to wherever it grows. */
export class Tail {
  readonly path: string;
  readonly found: string;
  readonly id: string;
  readonly group: Group;
  readonly birth: number;
  readonly #file: OpenFile['file'];
  readonly #options: TailOptions;
  readonly #stream;
  readonly #allowance: TokenBucket;
  #head: Head;
  #offset: number;
  #before: Buffer;
  #part: number;
  #size: number;
  /** Size at the last look at which nothing that was read was gone. */
  #wholeSize: number;
  #mtime: number;
  /**
   * Time of the last write when it was read: whatever took its path afterwards was written later.
   */
  #readMtime: number;
  #grownAt: number;
  /** State at the last attempt that read nothing. */
  #tried = '';
  /** Another file has its path. */
  left = false;
  /** True if it was truncated, or holds other bytes than those read. */
  replaced = false;

  /** `path` and `found` as they were when it was found first, whatever it is called now. */
  constructor(
    { path, found }: Named,
    { file, id, size, birth, mtime }: OpenFile,
    group: Group,
    head: Head,
    start: Start,
    options: TailOptions,
  ) {
    this.path = path;
    this.found = found;
    this.id = id;
    this.group = group;
    this.birth = birth;
    this.#file = file;
    this.#options = options;
    this.#stream = group.stream(path);
    this.#allowance = new TokenBucket(options.bytesPerSecond * burstSeconds, options.monotonic());
    this.#head = head;
    this.#offset = start.offset;
    this.#before = Buffer.from(start.before, 'base64');
    this.#part = start.part;
    this.#size = size;
    this.#wholeSize = size;
    this.#mtime = mtime;
    this.#readMtime = start.offset > 0 && start.mtime !== undefined ? start.mtime : mtime;
    this.#grownAt = options.monotonic();
  }

  get place(): Place {
    return {
      path: this.path,
      found: this.found,
      id: this.id,
      head: this.#head,
      birth: this.birth,
      mtime: this.#readMtime,
      offset: this.#offset,
      before: this.#before.toString('base64'),
      part: this.#part,
      size: this.#wholeSize,
      state: this.left ? 'left' : 'live',
    };
  }

  get mtime(): number {
    return this.#mtime;
  }

  /** Unread bytes. */
  get behind(): number {
    return Math.max(0, this.#size - this.#offset);
  }

  get quietMs(): number {
    return this.#options.monotonic() - this.#grownAt;
  }

  /** True if no more lines are expected of it. */
  get finished(): boolean {
    return this.left && this.behind === 0 && this.quietMs >= graceMs;
  }

  /** Looks at the file, and whether it still has its path. */
  async look(): Promise<void> {
    const there = this.left
      ? undefined
      : await stat(this.path, { bigint: true }).catch(() => undefined);
    this.left ||= there === undefined || idOf(there) !== this.id;
    const stats =
      this.left || there === undefined ? await this.#file.stat({ bigint: true }) : there;
    const size = Number(stats.size);
    this.#mtime = mtimeOf(stats);
    if (size !== this.#size) {
      this.#size = size;
      this.#grownAt = this.#options.monotonic();
    }
    this.replaced ||= size < this.#offset;
    if (!this.replaced) {
      this.#wholeSize = size;
    }
  }

  /**
   * True if it was written to and none of it is read yet: whether it is still the same file cannot
   * be seen from it alone.
   */
  get stirred(): boolean {
    return this.#offset === 0 && this.#part === 0 && this.#mtime !== this.#readMtime;
  }

  /** Reads a share into the draft; returns whether there was any. */
  async read(draft: Draft, window: Buffer): Promise<boolean> {
    const { bytesPerSecond, monotonic } = this.#options;
    const wait = this.#allowance.wait(bytesPerSecond, bytesPerSecond * burstSeconds, monotonic());
    const over = this.#over();
    const known = `${this.#size} ${over}`;
    if (this.behind === 0 || this.replaced || wait > 0 || this.#tried === known) {
      return false;
    }
    const { maxBytes, times } = this.#options;
    let want = Math.min(this.behind, quantum);
    for (;;) {
      const bytes = await readAt(
        this.#file,
        this.#offset - this.#before.length,
        this.#before.length + want,
        window,
      );
      if (
        !bytes.subarray(0, this.#before.length).equals(this.#before) ||
        (this.#offset === 0 && !beginsWith(bytes, this.#head))
      ) {
        this.replaced = true;
        return false;
      }
      const fresh = bytes.subarray(this.#before.length);
      const isAll = want === this.behind;
      const { lines, used, part } = splitLines(fresh, {
        part: this.#part,
        maxBytes,
        starts: this.group.starts,
        over: isAll ? over : undefined,
      });
      if (used === 0 && !isAll && want <= maxBytes) {
        want = Math.min(this.behind, maxBytes + 1);
        continue;
      }
      for (const line of lines) {
        draft.add(
          this.#stream,
          times.next(),
          line.text,
          line.part === 0 ? undefined : partOf(line.part, line.ends),
        );
      }
      if (used === 0) {
        this.#tried = known;
        return false;
      }
      await this.#advance(bytes, used, part);
      return true;
    }
  }

  /** Makes its current content what is to be read, passing the previous place to `before`. */
  async settle(before: (place: Place) => Promise<void>): Promise<void> {
    const { place } = this;
    const mtime = this.#mtime;
    this.#head = await readHead(this.#file, this.#size);
    await before(place);
    this.#readMtime = mtime;
  }

  /** Restarts after truncation: the content from now on is new. */
  async restart(): Promise<void> {
    const stats = await this.#file.stat({ bigint: true });
    const size = Number(stats.size);
    this.#size = size;
    this.#wholeSize = size;
    this.#mtime = mtimeOf(stats);
    this.#readMtime = this.#mtime;
    this.#head = await readHead(this.#file, size);
    this.#offset = 0;
    this.#before = Buffer.alloc(0);
    this.#part = 0;
    this.#tried = '';
    this.#grownAt = this.#options.monotonic();
    this.replaced = false;
  }

  /** Returns whether `other` is a copy of this file, at least as far as this was read. */
  async isCopiedTo(other: OpenFile): Promise<boolean> {
    if (this.#offset > 0) {
      return await continues(other.file, other.size, this.place);
    }
    // A copy that is still being made has nothing in it yet that could be lost.
    const head = await readHead(this.#file, this.#size);
    return (
      other.size <= this.#size &&
      (await readHead(other.file, head.size)).sha256 ===
        (await readHead(this.#file, Math.min(other.size, head.size))).sha256
    );
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #advance(bytes: Buffer, used: number, part: number): Promise<void> {
    const end = this.#before.length + used;
    this.#before = Buffer.from(bytes.subarray(Math.max(0, end - beforeBytes), end));
    this.#offset += used;
    this.#part = part;
    this.#readMtime = this.#mtime;
    this.#allowance.spend(used);
    if (this.#head.size < headBytes) {
      this.#head = await readHead(this.#file, this.#offset);
    }
  }

  #over(): 'lines' | 'all' | undefined {
    if (this.left && this.quietMs >= graceMs) {
      return 'all';
    }
    return this.group.starts !== undefined && this.quietMs >= this.group.waitMs
      ? 'lines'
      : undefined;
  }
}

export const partOf = (part: number, ends: boolean): Record<string, string> => ({
  part: String(part),
  ...(ends && { part_end: 'true' }),
});
