import { type Labels, labelsKey, matcher, type Matcher } from 'svc/query';
import { openBlock, type BlockFile, type SectionCache } from 'svc/store';

import { type Samples } from '../columns/samples.ts';
import { Cursor } from '../columns/scratch.ts';
import { TimeColumn } from '../columns/time-column.ts';
import { ValueColumn } from '../columns/value-column.ts';
import { BlockDirectory, sectionOf, type Slice } from './block-directory.ts';
import { groupSeries, pageSeries, sliceMs, timeColumnsPerSection } from './block-layout.ts';
import { type GroupCache, LabelGroup } from './label-group.ts';

/** Page with the start of each series and the times of its own. */
interface Page {
  readonly bytes: Uint8Array;
  readonly times: Int32Array;
  readonly starts: Uint32Array;
  readonly marked: Uint8Array;
}

/** Section of times with the start of each column, and behind the last. */
interface TimeSection {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
}

const maxPages = 48;
const maxTimeSections = 64;

/** Called with a section that cannot be read; throws if that is too much to lose. */
export type Lost = (error: unknown) => void;

/** One block, open for questions. Pages and sections that were unpacked lately are kept for the next series, within bounds. */
export class BlockReader {
  readonly #file: BlockFile;
  readonly directory: BlockDirectory;
  readonly #groups: GroupCache;
  readonly #path: string;
  readonly #pages = new Map<number, Page>();
  readonly #timeSections = new Map<number, TimeSection>();
  /** The times that were read last: neighbouring series often share theirs. */
  readonly #last = { section: -1, column: -1, times: new Float64Array(0), count: 0 };
  /** Group of labels that was used last, and its number. */
  #lastGroup: LabelGroup | undefined;
  #lastGroupNumber = -1;
  /** Slices of the window that was read last. */
  #window = { mint: NaN, maxt: NaN, slices: [] as readonly Slice[] };
  readonly #timeColumn = new TimeColumn();
  readonly #values = new ValueColumn();

  constructor(path: string, cache: SectionCache, groups: GroupCache) {
    this.#path = path;
    this.#groups = groups;
    this.#file = openBlock(path, cache);
    try {
      this.directory = new BlockDirectory(this.#file.read(this.#file.sections - 1));
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  /** Numbers of the series that match, ascending. */
  matching(matchers: readonly Matcher[], lost: Lost): number[] {
    const others = matchers.filter(({ name }) => name !== '__name__');
    const found: number[] = [];
    for (const { from, to } of this.directory.ranges(matchers)) {
      for (let begin = from; begin < to;) {
        const number = Math.floor(begin / groupSeries);
        const offset = number * groupSeries;
        const end = Math.min(to, offset + groupSeries);
        try {
          this.#group(number).match(others, begin - offset, end - offset, offset, found);
        } catch (error) {
          lost(error);
        }
        begin = end;
      }
    }
    return found;
  }

  /** The number of the series with exactly these labels, or -1. */
  find(labels: Labels, lost: Lost): number {
    const matchers = Array.from({ length: labels.length / 2 }, (_, i) =>
      matcher(labels[2 * i]!, '=', labels[2 * i + 1]!),
    );
    const key = labelsKey(labels);
    return this.matching(matchers, lost).find((series) => this.key(series) === key) ?? -1;
  }

  labels(series: number): Labels {
    return this.#group(Math.floor(series / groupSeries)).labels(series % groupSeries);
  }

  /** Tells label sets apart, as `labelsKey` does. */
  key(series: number): string {
    return this.#group(Math.floor(series / groupSeries)).key(series % groupSeries);
  }

  /** Appends the samples of a series from the slices that touch (mint, maxt]. */
  read(series: number, mint: number, maxt: number, into: Samples, lost: Lost): void {
    const number = Math.floor(series / pageSeries);
    const place = series % pageSeries;
    for (const slice of this.#slicesWithin(mint, maxt)) {
      const section = sectionOf(slice, number);
      if (section !== -1) {
        const begin = into.length;
        try {
          this.#readFrom(this.#page(section), place, slice, into);
        } catch (error) {
          into.truncate(begin);
          lost(error);
        }
      }
    }
  }

  close(): void {
    this.#file.close();
  }

  /** Frees unpacked data. */
  forget(): void {
    this.#pages.clear();
    this.#timeSections.clear();
    this.#last.section = -1;
    this.#lastGroup = undefined;
    this.#lastGroupNumber = -1;
  }

  #readFrom(page: Page, place: number, slice: Slice, into: Samples): void {
    const column = page.times[place]!;
    if (column === -1) {
      return;
    }
    const count = this.#readTimes(slice, column, into);
    let begin = page.starts[place]!;
    const end = page.starts[place + 1]!;
    if (this.directory.counted) {
      const cursor = new Cursor(page.bytes, begin, end);
      const length = cursor.uvarint();
      this.#values.read(
        page.bytes,
        cursor.at,
        cursor.at + length,
        into.counts!,
        into.length,
        count,
      );
      begin = cursor.at + length;
    }
    if (page.marked[place] === 1) {
      const cursor = new Cursor(page.bytes, begin, end);
      let at = into.length;
      for (let left = cursor.uvarint(); left > 0; left--) {
        into.mark((at += cursor.uvarint()));
      }
      begin = cursor.at;
    }
    if (into.valued) {
      this.#values.read(page.bytes, begin, end, into.values, into.length, count);
    }
    into.length += count;
  }

  #page(section: number): Page {
    const known = this.#pages.get(section);
    if (known !== undefined) {
      return known;
    }
    if (this.#pages.size >= maxPages) {
      this.#pages.clear();
    }
    const bytes = this.#file.read(section);
    const cursor = new Cursor(bytes);
    const page = {
      bytes,
      times: new Int32Array(pageSeries),
      starts: new Uint32Array(pageSeries + 1),
      marked: new Uint8Array(pageSeries),
    };
    let length = 0;
    for (let place = 0; place < pageSeries; place++) {
      page.times[place] = cursor.uvarint() - 1;
      page.starts[place] = length;
      if (page.times[place] !== -1) {
        const coded = cursor.uvarint();
        page.marked[place] = coded % 2;
        length += (coded - (coded % 2)) / 2;
      }
    }
    page.starts[pageSeries] = length;
    for (let place = 0; place <= pageSeries; place++) {
      page.starts[place]! += cursor.at;
    }
    this.#pages.set(section, page);
    return page;
  }

  #slicesWithin(mint: number, maxt: number): readonly Slice[] {
    const known = this.#window;
    if (known.mint !== mint || known.maxt !== maxt) {
      this.#window = { mint, maxt, slices: this.directory.slicesWithin(mint, maxt) };
    }
    return this.#window.slices;
  }

  /** Puts the times of a column behind what `into` holds, without making it longer; returns how many. */
  #readTimes(slice: Slice, column: number, into: Samples): number {
    const number = slice.timeSections[Math.floor(column / timeColumnsPerSection)]!;
    const place = column % timeColumnsPerSection;
    const last = this.#last;
    if (last.section !== number || last.column !== place) {
      const { bytes, starts } = this.#timeSection(number);
      const [begin, end] = [starts[place]!, starts[place + 1]!];
      last.section = -1;
      last.count = this.#timeColumn.count(bytes, begin, end);
      if (last.times.length < last.count) {
        last.times = new Float64Array(last.count * 2);
      }
      this.#timeColumn.read(bytes, begin, end, slice.number * sliceMs, last.times, 0);
      last.section = number;
      last.column = place;
    }
    into.reserve(last.count);
    const { times, length } = into;
    for (let i = 0; i < last.count; i++) {
      times[length + i] = last.times[i]!;
    }
    return last.count;
  }

  #timeSection(number: number): TimeSection {
    const known = this.#timeSections.get(number);
    if (known !== undefined) {
      return known;
    }
    if (this.#timeSections.size >= maxTimeSections) {
      this.#timeSections.clear();
    }
    const bytes = this.#file.read(number);
    const cursor = new Cursor(bytes);
    const columns = cursor.uvarint();
    const starts = new Uint32Array(timeColumnsPerSection + 1);
    let end = 0;
    for (let column = 0; column < columns; column++) {
      end += cursor.uvarint();
      starts[column + 1] = end;
    }
    // Columns that are missing are empty, which is refused where they are read.
    starts.fill(end, columns + 1);
    const section = { bytes, starts: starts.map((start) => start + cursor.at) };
    this.#timeSections.set(number, section);
    return section;
  }

  #group(number: number): LabelGroup {
    if (this.#lastGroupNumber !== number) {
      this.#lastGroup = this.#groups.get(
        `${this.#path}\0${number}`,
        () => new LabelGroup(this.#file.read(this.directory.groups[number]!)),
      );
      this.#lastGroupNumber = number;
    }
    return this.#lastGroup!;
  }

  /** Values of a label among series that match. */
  labelValues(name: string, matchers: readonly Matcher[], into: Set<string>, lost: Lost): void {
    if (!this.directory.labelNames.includes(name)) {
      return;
    }
    if (name === '__name__' && matchers.length === 0) {
      this.directory.metrics.forEach((metric) => into.add(metric));
      return;
    }
    const byGroup = new Map<number, number[]>();
    for (const series of this.matching(matchers, lost)) {
      const number = Math.floor(series / groupSeries);
      (byGroup.get(number) ?? byGroup.set(number, []).get(number)!).push(series % groupSeries);
    }
    for (const [number, rows] of byGroup) {
      this.#group(number).values(name, rows, into);
    }
  }
}
