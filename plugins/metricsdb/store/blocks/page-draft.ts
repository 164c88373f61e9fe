import { type Samples } from '../columns/samples.ts';
import { Scratch } from '../columns/scratch.ts';
import { type ValueColumn } from '../columns/value-column.ts';
import { pageSeries } from './block-layout.ts';

/** A page in the making: up to 64 series of one slice, a header entry and a run of values each. */
export class PageDraft {
  readonly #header = new Scratch(512);
  readonly #streams = new Scratch(8 * 1_024);
  readonly #counts = new Scratch();
  #filled = 0;
  #spare = new Float64Array(512);

  /** Adds the series at `place` of the page, with samples `[from, to)` whose times are column `times` of the slice. */
  add(
    place: number,
    times: number,
    samples: Samples,
    from: number,
    to: number,
    column: ValueColumn,
  ): void {
    this.#skipTo(place);
    const begin = this.#streams.at;
    if (samples.counts !== undefined) {
      this.#writeCounts(samples.counts, from, to, column);
    }
    const marked = samples.anyStale && samples.stale.subarray(from, to).includes(1);
    if (marked) {
      this.#writeMarkers(samples.stale, from, to);
      column.write(this.#streams, this.#withoutMarkers(samples, from, to), 0, to - from);
    } else {
      column.write(this.#streams, samples.values, from, to);
    }
    this.#header.uvarint(times + 1);
    this.#header.uvarint((this.#streams.at - begin) * 2 + (marked ? 1 : 0));
    this.#filled = place + 1;
  }

  /** The whole page; the draft is empty then. */
  take(): Uint8Array {
    this.#skipTo(pageSeries);
    const page = new Scratch(this.#header.at + this.#streams.at);
    page.put(this.#header.written());
    page.put(this.#streams.written());
    this.#header.reset();
    this.#streams.reset();
    this.#filled = 0;
    return page.written();
  }

  #skipTo(place: number): void {
    for (; this.#filled < place; this.#filled++) {
      this.#header.uvarint(0);
    }
  }

  #writeCounts(counts: Float64Array, from: number, to: number, column: ValueColumn): void {
    column.write(this.#counts.reset(), counts, from, to);
    this.#streams.uvarint(this.#counts.at);
    this.#streams.put(this.#counts.written());
  }

  #writeMarkers(stale: Uint8Array, from: number, to: number): void {
    const at: number[] = [];
    for (let i = from; i < to; i++) {
      if (stale[i] === 1) {
        at.push(i - from);
      }
    }
    this.#streams.uvarint(at.length);
    at.forEach((index, i) => this.#streams.uvarint(index - (at[i - 1] ?? 0)));
  }

  /** Markers repeat the value before them, so that they do not spoil the compression of real ones. */
  #withoutMarkers(samples: Samples, from: number, to: number): Float64Array {
    if (this.#spare.length < to - from) {
      this.#spare = new Float64Array((to - from) * 2);
    }
    let before = 0;
    for (let i = from; i < to; i++) {
      before = samples.stale[i] === 1 ? before : samples.values[i]!;
      this.#spare[i - from] = before;
    }
    return this.#spare;
  }
}
