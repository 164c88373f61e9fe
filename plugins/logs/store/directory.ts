import { type Budget, type Labels, labelValue, type Matcher } from 'svc/query';

import type { ChunkTable } from './chunk-table.ts';
import type { Nanos } from './nanos.ts';
import type { Stream, StreamTable } from './stream-table.ts';

export interface NanosWindow {
  /** Inclusive. */
  readonly start: Nanos;
  /** Exclusive. */
  readonly end: Nanos;
}

export interface StreamSize {
  readonly labels: Labels;
  readonly chunks: number;
  readonly lines: number;
  readonly bytes: number;
}

/**
 * Which streams there are, without reading a line. Times are those of whole chunks, so a border may count a little too much.
 * A stream that is looked at costs the asker a sample, one that is seen the bytes of its labels.
 */
export class Directory {
  readonly #streams: StreamTable;
  readonly #chunks: ChunkTable;

  constructor(streams: StreamTable, chunks: ChunkTable) {
    this.#streams = streams;
    this.#chunks = chunks;
  }

  /** Label sets with lines in the window that match one of the lists of matchers. */
  async *series(selectors: readonly (readonly Matcher[])[], window: NanosWindow, budget: Budget): AsyncGenerator<Labels> {
    const seen = new Set<Stream>();
    for (const matchers of selectors) {
      for await (const stream of this.#matching(matchers, budget)) {
        if (!seen.has(stream) && this.#touches(stream, window)) {
          seen.add(stream);
          budget.bytes(stream.labels.reduce((sum, { length }) => sum + length, 0));
          yield stream.labels;
        }
      }
    }
  }

  async labels(matchers: readonly Matcher[], window: NanosWindow, budget: Budget): Promise<string[]> {
    const names = new Set<string>();
    for await (const labels of this.series([matchers], window, budget)) {
      for (let i = 0; i < labels.length; i += 2) {
        names.add(labels[i]!);
      }
    }
    return [...names].sort();
  }

  async values(name: string, matchers: readonly Matcher[], window: NanosWindow, budget: Budget): Promise<string[]> {
    const values = new Set<string>();
    for await (const labels of this.series([matchers], window, budget)) {
      for (let i = 0; i < labels.length; i += 2) {
        if (labels[i] === name) {
          values.add(labels[i + 1]!);
        }
      }
    }
    return [...values].sort();
  }

  async *sizes(matchers: readonly Matcher[], window: NanosWindow, budget: Budget): AsyncGenerator<StreamSize> {
    const { mint, maxt } = bounds(window);
    for await (const stream of this.#matching(matchers, budget)) {
      const stored = stream.stored ? this.#chunks.totals({ stream: stream.id, mint, maxt }) : { chunks: 0, lines: 0, bytes: 0 };
      let { chunks, lines, bytes } = stored;
      for (const held of heldIn(stream, mint, maxt)) {
        chunks += 1;
        lines += held.lines;
        bytes += held.bytes;
      }
      if (chunks > 0) {
        yield { labels: stream.labels, chunks, lines, bytes };
      }
    }
  }

  /** Others get a turn between any two streams, also between such as do not match. */
  async *#matching(matchers: readonly Matcher[], budget: Budget): AsyncGenerator<Stream> {
    for (const stream of this.#streams.all()) {
      budget.spend(1);
      const pause = budget.breathe();
      if (pause !== undefined) {
        await pause;
      }
      if (!stream.gone && matchers.every((matcher) => matcher.matches(labelValue(stream.labels, matcher.name)))) {
        yield stream;
      }
    }
  }

  #touches(stream: Stream, window: NanosWindow): boolean {
    const { mint, maxt } = bounds(window);
    return !heldIn(stream, mint, maxt).next().done || (stream.stored && this.#chunks.touches({ stream: stream.id, mint, maxt }));
  }
}

function* heldIn({ sealed, head }: Stream, mint: number, maxt: number): Generator<{ readonly lines: number; readonly bytes: number }> {
  for (const chunk of sealed) {
    if (chunk.maxt >= mint && chunk.mint <= maxt) {
      yield { lines: chunk.count, bytes: chunk.lineBytes };
    }
  }
  if (head !== undefined && head.count > 0) {
    const { ms, count, lines } = head.columns();
    if (ms[count - 1]! >= mint && ms[0]! <= maxt) {
      yield { lines: count, bytes: lines.length };
    }
  }
}

const bounds = ({ start, end }: NanosWindow): { mint: number; maxt: number } => ({ mint: start.ms, maxt: end.ns === 0 ? end.ms - 1 : end.ms });
