import type { ChunkRow, ChunkTable } from '../blocks/chunk-table.ts';
import type { Stream } from '../head/stream-table.ts';
import type { Columns } from '../lines/columns.ts';

/** A chunk, or a head, that may hold lines that are asked for; read when its time has come. */
export interface Piece {
  /** Milliseconds, both inclusive. */
  readonly mint: number;
  readonly maxt: number;
  /** Undefined when it holds nothing that is asked for, or cannot be read. */
  load(): Columns | undefined;
}

export interface PieceWindow {
  readonly mint: number;
  readonly maxt: number;
  readonly upTo: number;
  readonly backward: boolean;
}

const pageRows = 32;

/** The pieces of one stream in the asked direction: by `maxt` descending or by `mint` ascending. Of those in blocks only a few are known at a time. */
export class Pieces {
  readonly #stream: Stream;
  readonly #table: ChunkTable;
  readonly #window: PieceWindow;
  readonly #pieceOf: (row: ChunkRow) => Piece;
  /** Pieces in memory, the next one last. */
  readonly #held: Piece[];
  #rows: readonly ChunkRow[] = [];
  #at = 0;
  #isLast: boolean;

  constructor(
    stream: Stream,
    held: readonly Piece[],
    table: ChunkTable,
    window: PieceWindow,
    pieceOf: (row: ChunkRow) => Piece,
  ) {
    this.#stream = stream;
    this.#table = table;
    this.#window = window;
    this.#pieceOf = pieceOf;
    this.#held = held
      .filter(({ mint, maxt }) => maxt >= window.mint && mint <= window.maxt)
      .sort((a, b) => (window.backward ? a.maxt - b.maxt : b.mint - a.mint));
    this.#isLast = !stream.stored;
  }

  peek(): Pick<Piece, 'mint' | 'maxt'> | undefined {
    const row = this.#row();
    const held = this.#held[this.#held.length - 1];
    return row === undefined || (held !== undefined && this.#comesFirst(held, row)) ? held : row;
  }

  take(): Piece {
    const next = this.peek()!;
    const row = this.#row();
    if (next === row) {
      this.#at++;
      return this.#pieceOf(row);
    }
    return this.#held.pop()!;
  }

  #comesFirst(a: Pick<Piece, 'mint' | 'maxt'>, b: Pick<Piece, 'mint' | 'maxt'>): boolean {
    return this.#window.backward ? a.maxt >= b.maxt : a.mint <= b.mint;
  }

  #row(): ChunkRow | undefined {
    if (this.#at === this.#rows.length && !this.#isLast) {
      const { backward, mint, maxt, upTo } = this.#window;
      const after = this.#rows[this.#rows.length - 1];
      this.#rows = this.#table.page(
        backward ? 'backward' : 'forward',
        { stream: this.#stream.id, mint, maxt, upTo },
        after,
        pageRows,
      );
      this.#at = 0;
      this.#isLast = this.#rows.length < pageRows;
    }
    return this.#rows[this.#at];
  }
}
