import { type Labels, labelsKey } from 'svc/query';

import type { LogEntry } from '../../logql/lines/source.ts';
import type { Nanos } from '../lines/nanos.ts';
import { type Asked, Cursor } from './cursor.ts';
import type { Piece, Pieces } from './pieces.ts';

const batchLines = 1_024;
const batchBytes = 512 * 1024;

export interface ReaderOptions extends Asked {
  /** Called before a chunk is read and between batches. */
  readonly pause: () => Promise<void> | undefined;
  /** The worst time that is still wanted. */
  readonly bound: () => Nanos | undefined;
}

/**
 * Lines of one stream in the requested direction. A chunk is read when the reader reaches its time
 * and released when used up, so only chunks whose times overlap are in memory. A duplicate line, as
 * after a repeated push, is returned once.
 */
export class StreamReader {
  readonly labels: Labels;
  readonly #pieces: Pieces;
  readonly #options: ReaderOptions;
  readonly #open: Cursor[] = [];
  readonly #instant = new Instant();

  constructor(labels: Labels, pieces: Pieces, options: ReaderOptions) {
    this.labels = labels;
    this.#pieces = pieces;
    this.#options = options;
  }

  /** Near edge of the next chunk in the direction of reading; undefined at the end. */
  get edge(): number | undefined {
    const next = this.#pieces.peek();
    return next && (this.#options.backward ? next.maxt : next.mint);
  }

  /** Reads on until no chunk is open: the least after which another stream may take its turn. */
  async *turn(): AsyncGenerator<readonly LogEntry[]> {
    const { pause } = this.#options;
    let batch: LogEntry[] = [];
    let bytes = 0;
    do {
      await this.#openReached();
      const cursor = this.#best();
      if (cursor === undefined || this.#isBeyond(cursor.ms)) {
        this.#open.length = 0;
        break;
      }
      const alone = this.#open.length === 1;
      do {
        const entry = cursor.entry();
        cursor.advance();
        if (this.#instant.isNew(entry)) {
          batch.push(entry);
          bytes += entry.line.length;
        }
      } while (
        alone &&
        !cursor.done &&
        batch.length < batchLines &&
        bytes < batchBytes &&
        !this.#reached(cursor)
      );
      if (cursor.done) {
        this.#open.splice(this.#open.indexOf(cursor), 1);
      }
      if (batch.length >= batchLines || bytes >= batchBytes) {
        yield batch;
        batch = [];
        bytes = 0;
        await pause();
      }
    } while (this.#open.length > 0);
    if (batch.length > 0) {
      yield batch;
    }
  }

  /** Opens every chunk that may hold something before the next entry, or at its time. */
  async #openReached(): Promise<void> {
    for (
      let best = this.#best();
      this.#pieces.peek() !== undefined && (best === undefined || this.#reached(best));
      best = this.#best()
    ) {
      await this.#options.pause();
      const columns = this.#pieces.take().load();
      const cursor = columns && new Cursor(columns, this.#options);
      if (cursor?.done === false) {
        this.#open.push(cursor);
      } else if (this.#open.length === 0) {
        return;
      }
    }
  }

  #reached(cursor: Cursor): boolean {
    const next = this.#pieces.peek();
    return next !== undefined && reaches(next, cursor.ms, this.#options.backward);
  }

  #isBeyond(ms: number): boolean {
    return isBeyond(ms, this.#options.bound(), this.#options.backward);
  }

  /** Returns the cursor with the next entry; the one that was opened first among equals. */
  #best(): Cursor | undefined {
    let best = this.#open[0];
    for (let i = 1; i < this.#open.length; i++) {
      const other = this.#open[i]!;
      const order = other.ms - best!.ms || other.ns - best!.ns;
      if (this.#options.backward ? order > 0 : order < 0) {
        best = other;
      }
    }
    return best;
  }
}

const reaches = (
  { mint, maxt }: Pick<Piece, 'mint' | 'maxt'>,
  ms: number,
  backward: boolean,
): boolean => (backward ? maxt >= ms : mint <= ms);

/** Returns whether this time and everything after it, in the direction, is out of bounds. */
export const isBeyond = (ms: number, bound: Nanos | undefined, backward: boolean): boolean =>
  bound !== undefined && (backward ? ms < bound.ms : ms > bound.ms);

/** Entries already returned of the current instant. */
class Instant {
  #first: LogEntry | undefined;
  #seen: Set<string> | undefined;

  isNew(entry: LogEntry): boolean {
    const first = this.#first;
    if (first === undefined || entry.ms !== first.ms || entry.ns !== first.ns) {
      this.#first = entry;
      this.#seen = undefined;
      return true;
    }
    this.#seen ??= new Set([keyOf(first)]);
    const key = keyOf(entry);
    const isNew = !this.#seen.has(key);
    this.#seen.add(key);
    return isNew;
  }
}

const keyOf = ({ line, metadata }: LogEntry): string =>
  metadata === undefined ? line : `${labelsKey(metadata)}\0${line}`;
