import { textOf } from 'svc/query';

import type { LogEntry } from '../../logql/lines/source.ts';
import { type Columns, lowerBound, startOf } from '../lines/columns.ts';
import type { Nanos } from '../lines/nanos.ts';
import { entriesHolding } from './prefilter.ts';

export interface Asked {
  /** Inclusive. */
  readonly start: Nanos;
  /** Exclusive. */
  readonly end: Nanos;
  readonly backward: boolean;
  /** Every line that is asked for holds all of them. */
  readonly needles: readonly Buffer[];
}

/** The asked entries of one chunk, from the next one to the last one in the asked direction. */
export class Cursor {
  readonly #columns: Columns;
  readonly #chosen: Uint32Array | undefined;
  readonly #step: 1 | -1;
  readonly #end: number;
  #at: number;

  constructor(columns: Columns, { start, end, backward, needles }: Asked) {
    this.#columns = columns;
    const from = lowerBound(columns, start.ms, start.ns);
    const to = Math.max(from, lowerBound(columns, end.ms, end.ns));
    this.#chosen =
      needles.length > 0 && from < to ? entriesHolding(columns, needles, from, to) : undefined;
    const [low, high] = this.#chosen === undefined ? [from, to] : [0, this.#chosen.length];
    this.#step = backward ? -1 : 1;
    this.#at = backward ? high - 1 : low;
    this.#end = backward ? low - 1 : high;
  }

  get done(): boolean {
    return this.#at === this.#end;
  }

  get ms(): number {
    return this.#columns.ms[this.#index]!;
  }

  get ns(): number {
    return this.#columns.ns[this.#index]!;
  }

  /** The present entry; only while not done. */
  entry(): LogEntry {
    const { ms, ns, ends, meta, metas, lines } = this.#columns;
    const i = this.#index;
    const line = textOf(lines, startOf(this.#columns, i), ends[i]!);
    const set = meta === undefined ? 0 : meta[i]!;
    return set === 0
      ? { ms: ms[i]!, ns: ns[i]!, line }
      : { ms: ms[i]!, ns: ns[i]!, line, metadata: metas[set]! };
  }

  advance(): void {
    this.#at += this.#step;
  }

  get #index(): number {
    return this.#chosen === undefined ? this.#at : this.#chosen[this.#at]!;
  }
}
