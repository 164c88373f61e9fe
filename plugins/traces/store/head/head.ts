import { ByteDictionary } from '../columns/byte-dictionary.ts';
import type { EventColumns, LinkColumns, SpanTable } from '../columns/columns.ts';
import { f64, i32, u8, u32 } from '../columns/growable.ts';
import { hexOf } from '../columns/stored-span.ts';
import { HeadDictionary } from './head-dictionary.ts';
import type { TraceLimits } from './limits.ts';

const none = -1;

const emptyColumns = () => ({
  live: u8(),
  spanIds: u8(8 * 1024),
  parentIds: u8(8 * 1024),
  startMs: f64(),
  startNs: u32(),
  durations: f64(),
  kinds: u8(),
  names: u32(),
  messages: u32(),
  states: u32(),
  flags: u32(),
  resourceIds: u32(),
  scopeIds: u32(),
  traceOf: u32(),
  previousRow: i32(),
  pairStarts: u32(),
  pairIds: u32(8 * 1024),
  eventStarts: u32(),
  eventNames: u32(),
  eventTimes: f64(),
  eventPairStarts: u32(),
  eventPairs: u32(),
  linkStarts: u32(),
  linkTraceIds: u8(),
  linkSpanIds: u8(),
  linkStates: u32(),
  linkPairStarts: u32(),
  linkPairs: u32(),
});

export type HeadColumns = ReturnType<typeof emptyColumns>;
type Column = HeadColumns[keyof HeadColumns];

/** Lengths of all columns: what to go back to when a body turns out to be broken. */
export type HeadMark = readonly number[];

/**
 * The newest spans, in memory and in the log. A row counts (`live`) once its body is on disk. The rows of one trace
 * are linked, the last one first.
 */
export class Head implements SpanTable {
  readonly dictionary: HeadDictionary;
  readonly columns: HeadColumns = emptyColumns();
  readonly openedAt: number;
  readonly #traceBytes: ByteDictionary;
  readonly #lastRow = i32();
  readonly #traceRows = u32();

  constructor(limits: TraceLimits, seed: number, openedAt: number) {
    this.openedAt = openedAt;
    this.dictionary = new HeadDictionary(limits, seed);
    this.#traceBytes = new ByteDictionary(seed);
    const { pairStarts, eventStarts, eventPairStarts, linkStarts, linkPairStarts } = this.columns;
    [pairStarts, eventStarts, eventPairStarts, linkStarts, linkPairStarts].forEach((starts) =>
      starts.push(0),
    );
  }

  get rows(): number {
    return this.columns.live.length;
  }

  get traces(): number {
    return this.#traceBytes.size;
  }

  /** About what the memory holds. */
  get bytes(): number {
    return Object.values(this.columns).reduce(
      (sum, { data }) => sum + data.byteLength,
      this.dictionary.bytes + this.#traceBytes.bytes,
    );
  }

  get live(): Uint8Array {
    return this.columns.live.data;
  }

  get spanIds(): Uint8Array {
    return this.columns.spanIds.data;
  }

  get startMs(): Float64Array {
    return this.columns.startMs.data;
  }

  get startNs(): Uint32Array {
    return this.columns.startNs.data;
  }

  get durations(): Float64Array {
    return this.columns.durations.data;
  }

  get kinds(): Uint8Array {
    return this.columns.kinds.data;
  }

  get names(): Uint32Array {
    return this.columns.names.data;
  }

  get messages(): Uint32Array {
    return this.columns.messages.data;
  }

  get states(): Uint32Array {
    return this.columns.states.data;
  }

  get flags(): Uint32Array {
    return this.columns.flags.data;
  }

  get resourceIds(): Uint32Array {
    return this.columns.resourceIds.data;
  }

  get scopeIds(): Uint32Array {
    return this.columns.scopeIds.data;
  }

  get pairStarts(): Uint32Array {
    return this.columns.pairStarts.data;
  }

  get pairIds(): Uint32Array {
    return this.columns.pairIds.data;
  }

  get events(): EventColumns {
    const { eventStarts, eventNames, eventTimes, eventPairStarts, eventPairs } = this.columns;
    return {
      starts: eventStarts.data,
      names: eventNames.data,
      sinceStart: eventTimes.data,
      pairStarts: eventPairStarts.data,
      pairs: eventPairs.data,
    };
  }

  get links(): LinkColumns {
    const { linkStarts, linkTraceIds, linkSpanIds, linkStates, linkPairStarts, linkPairs } =
      this.columns;
    return {
      starts: linkStarts.data,
      traceIds: linkTraceIds.data,
      spanIds: linkSpanIds.data,
      states: linkStates.data,
      pairStarts: linkPairStarts.data,
      pairs: linkPairs.data,
    };
  }

  get traceOf(): Uint32Array {
    return this.columns.traceOf.data;
  }

  parentId(row: number): string {
    const { data } = this.columns.parentIds;
    for (let i = row * 8; i < row * 8 + 8; i++) {
      if (data[i] !== 0) {
        return hexOf(data, row * 8, 8);
      }
    }
    return '';
  }

  traceId(trace: number): string {
    return hexOf(this.#traceBytes.bytesOf(trace), 0, 16);
  }

  traceBytes(trace: number): Uint8Array {
    return this.#traceBytes.bytesOf(trace);
  }

  rowsOf(trace: number): number[] {
    const rows: number[] = [];
    const live = this.live;
    const previous = this.columns.previousRow.data;
    for (let row = this.#lastRow.data[trace]!; row !== none; row = previous[row]!) {
      if (live[row] === 1) {
        rows.push(row);
      }
    }
    return rows.reverse();
  }

  findTrace(id: Uint8Array): number {
    return this.#traceBytes.find(id, 0, 16);
  }

  /** The number of a trace, known or new. */
  internTrace(bytes: Uint8Array, start: number): number {
    const trace = this.#traceBytes.intern(bytes, start, start + 16);
    if (trace === this.#lastRow.length) {
      this.#lastRow.push(none);
      this.#traceRows.push(0);
    }
    return trace;
  }

  spansOf(trace: number): number {
    return this.#traceRows.data[trace]!;
  }

  /** Ends a row, whose other columns are filled. */
  endRow(trace: number): void {
    const {
      live,
      traceOf,
      previousRow,
      pairStarts,
      pairIds,
      eventStarts,
      eventNames,
      linkStarts,
      linkStates,
    } = this.columns;
    const row = live.length;
    traceOf.push(trace);
    previousRow.push(this.#lastRow.data[trace]!);
    this.#lastRow.data[trace] = row;
    this.#traceRows.data[trace]!++;
    pairStarts.push(pairIds.length);
    eventStarts.push(eventNames.length);
    linkStarts.push(linkStates.length);
    live.push(0);
  }

  mark(): HeadMark {
    return this.#all().map(({ length }) => length);
  }

  /** Drops the rows since `mark`; what the dictionaries learned meanwhile stays. */
  rollBack(mark: HeadMark): void {
    const { traceOf, previousRow } = this.columns;
    const kept = mark[this.#all().indexOf(this.columns.live)]!;
    for (let row = this.rows - 1; row >= kept; row--) {
      const trace = traceOf.data[row]!;
      this.#lastRow.data[trace] = previousRow.data[row]!;
      this.#traceRows.data[trace]!--;
    }
    this.#all().forEach((column, index) => {
      column.length = mark[index]!;
    });
  }

  /** The rows from `first` on count from now on. */
  reveal(first: number, end: number): void {
    this.live.fill(1, first, end);
  }

  #all(): readonly Column[] {
    return Object.values(this.columns);
  }
}
