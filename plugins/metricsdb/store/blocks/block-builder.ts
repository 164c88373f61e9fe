import { labelValue, metricName, type Labels } from 'svc/query';
import { type BlockDescription, type BlockWriter } from 'svc/store';

import { type Samples } from '../columns/samples.ts';
import { Scratch } from '../columns/scratch.ts';
import { TimeColumn } from '../columns/time-column.ts';
import { ValueColumn } from '../columns/value-column.ts';
import {
  groupSeries,
  layoutVersion,
  pageSeries,
  sliceMs,
  sliceOf,
  thinLayoutVersion,
} from './block-layout.ts';
import { spansOfSlices } from './block-meta.ts';
import { PageDraft } from './page-draft.ts';
import { TimeDictionary } from './time-dictionary.ts';

interface SliceDraft {
  readonly times: TimeDictionary;
  readonly page: PageDraft;
  touched: boolean;
  /** Page and section, one behind the other. */
  readonly pages: number[];
}

/** Content of a finished block. */
export interface Finished {
  readonly series: number;
  readonly samples: number;
  readonly mint: number;
  readonly maxt: number;
  /** Slices that contain samples: pairs of first and last. */
  readonly spans: readonly number[];
}

/** Writes one block, series by series in order of name and labels; holds one page per slice at a time. */
export class BlockBuilder {
  readonly #writer: BlockWriter;
  readonly #values = new ValueColumn();
  readonly #column = new TimeColumn();
  readonly #slices = new Map<number, SliceDraft>();
  readonly #metrics: { readonly name: string; count: number }[] = [];
  readonly #names = new Set<string>();
  readonly #groups: number[] = [];
  #symbols = new Map<string, number>();
  readonly #rows = new Scratch();
  #series = 0;
  #counted = false;
  samples = 0;
  mint = Infinity;
  maxt = -Infinity;

  constructor(writer: BlockWriter) {
    this.#writer = writer;
  }

  /** Adds a series with its samples `[from, to)`, at least one. Either all of a block count, or none. */
  add(labels: Labels, samples: Samples, from: number, to: number): void {
    this.#addLabels(labels);
    this.#counted = samples.counts !== undefined;
    const { times } = samples;
    for (let begin = from; begin < to;) {
      const slice = sliceOf(times[begin]!);
      const until = (slice + 1) * sliceMs;
      let end = begin + 1;
      while (end < to && times[end]! < until) {
        end++;
      }
      const draft = this.#slice(slice);
      draft.page.add(
        this.#series % pageSeries,
        draft.times.add(times, begin, end),
        samples,
        begin,
        end,
        this.#values,
      );
      draft.touched = true;
      begin = end;
    }
    this.samples += to - from;
    this.mint = Math.min(this.mint, times[from]!);
    this.maxt = Math.max(this.maxt, times[to - 1]!);
    this.#series++;
    if (this.#series % pageSeries === 0) {
      this.#closePages();
    }
    if (this.#series % groupSeries === 0) {
      this.#closeGroup();
    }
  }

  /** Writes the remainder, the description, and the directory, which is the last section. */
  finish(describe: (finished: Finished) => BlockDescription): Finished {
    this.#closePages();
    this.#closeGroup();
    const slices = [...this.#slices].sort(([a], [b]) => a - b);
    slices.forEach(([, { times }]) => times.close());
    const finished = {
      series: this.#series,
      samples: this.samples,
      mint: this.mint,
      maxt: this.maxt,
      spans: spansOfSlices(slices.map(([slice]) => slice)),
    };
    if (finished.series > 0) {
      this.#writer.describe(describe(finished));
    }
    this.#writer.section(this.#directory(slices));
    return finished;
  }

  #directory(slices: readonly (readonly [number, SliceDraft])[]): Uint8Array {
    const out = new Scratch();
    out.u8(this.#counted ? thinLayoutVersion : layoutVersion);
    out.uvarint(this.#series);
    writeTexts(out, [...this.#names].sort());
    writeTexts(
      out,
      this.#metrics.map(({ name }) => name),
    );
    this.#metrics.forEach(({ count }) => out.uvarint(count));
    writeSteps(out, this.#groups);
    writeSteps(
      out,
      slices.map(([slice]) => slice),
    );
    for (const [, { times, pages }] of slices) {
      writeSteps(out, times.sections);
      writeSteps(
        out,
        pages.filter((_, i) => i % 2 === 0),
      );
      writeSteps(
        out,
        pages.filter((_, i) => i % 2 === 1),
      );
    }
    return out.written();
  }

  #addLabels(labels: Labels): void {
    const name = labelValue(labels, metricName);
    const metric = this.#metrics.at(-1);
    if (metric?.name === name) {
      metric.count++;
    } else {
      this.#metrics.push({ name, count: 1 });
    }
    this.#rows.uvarint(labels.length / 2);
    for (let i = 0; i < labels.length; i++) {
      if (i % 2 === 0) {
        this.#names.add(labels[i]!);
      }
      this.#rows.uvarint(this.#symbol(labels[i]!));
    }
  }

  #symbol(text: string): number {
    const known = this.#symbols.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#symbols.set(text, this.#symbols.size);
    return this.#symbols.size - 1;
  }

  #slice(number: number): SliceDraft {
    let draft = this.#slices.get(number);
    if (draft === undefined) {
      const times = new TimeDictionary(number * sliceMs, this.#column, (bytes) =>
        this.#writer.section(bytes),
      );
      draft = { times, page: new PageDraft(), touched: false, pages: [] };
      this.#slices.set(number, draft);
    }
    return draft;
  }

  #closePages(): void {
    const page = Math.ceil(this.#series / pageSeries) - 1;
    for (const draft of this.#slices.values()) {
      if (draft.touched) {
        draft.pages.push(page, this.#writer.section(draft.page.take()));
        draft.touched = false;
      }
    }
  }

  #closeGroup(): void {
    if (this.#rows.at === 0) {
      return;
    }
    const out = new Scratch(this.#rows.at + this.#symbols.size * 16);
    writeTexts(out, [...this.#symbols.keys()]);
    out.uvarint(((this.#series - 1) % groupSeries) + 1);
    out.put(this.#rows.written());
    this.#groups.push(this.#writer.section(out.written()));
    this.#rows.reset();
    this.#symbols = new Map();
  }
}

function writeTexts(out: Scratch, texts: readonly string[]): void {
  out.uvarint(texts.length);
  for (const text of texts) {
    const bytes = Buffer.from(text);
    out.uvarint(bytes.length);
    out.put(bytes);
  }
}

/** Whole numbers as the steps between them. */
function writeSteps(out: Scratch, numbers: readonly number[]): void {
  out.uvarint(numbers.length);
  numbers.forEach((number, i) => out.svarint(number - (numbers[i - 1] ?? 0)));
}
