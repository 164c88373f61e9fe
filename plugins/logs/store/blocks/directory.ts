import { type Budget, type Labels, labelValue, type Matcher } from 'svc/query';
import type { DamageTracker } from 'svc/store';

import type { Stream, StreamTable } from '../head/stream-table.ts';
import type { Nanos } from '../lines/nanos.ts';
import type { ChunkRow, ChunkTable } from './chunk-table.ts';

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

export interface StreamVolume {
  readonly labels: Labels;
  /** Bytes by the beginning of the step. */
  readonly steps: ReadonlyMap<number, number>;
}

const pageRows = 256;

/**
 * Which streams there are, without reading a line. Times are those of whole chunks, so a border may count a little too much.
 * A stream that is looked at costs the asker a sample, one that is seen the bytes of its labels.
 */
export class Directory {
  readonly #streams: StreamTable;
  readonly #chunks: ChunkTable;
  readonly #damage: DamageTracker;

  constructor(streams: StreamTable, chunks: ChunkTable, damage: DamageTracker) {
    this.#damage = damage;
    this.#streams = streams;
    this.#chunks = chunks;
  }

  /** Label sets with lines in the window that match one of the lists of matchers. */
  async *series(
    selectors: readonly (readonly Matcher[])[],
    window: NanosWindow,
    budget: Budget,
  ): AsyncGenerator<Labels> {
    this.#tellLosses(window, budget);
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

  async labels(
    matchers: readonly Matcher[],
    window: NanosWindow,
    budget: Budget,
  ): Promise<string[]> {
    const names = new Set<string>();
    for await (const labels of this.series([matchers], window, budget)) {
      for (let i = 0; i < labels.length; i += 2) {
        names.add(labels[i]!);
      }
    }
    return [...names].sort();
  }

  async values(
    name: string,
    matchers: readonly Matcher[],
    window: NanosWindow,
    budget: Budget,
  ): Promise<string[]> {
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

  async *sizes(
    matchers: readonly Matcher[],
    window: NanosWindow,
    budget: Budget,
  ): AsyncGenerator<StreamSize> {
    const { mint, maxt } = bounds(window);
    this.#tellLosses(window, budget);
    for await (const stream of this.#matching(matchers, budget)) {
      const stored = stream.stored
        ? this.#chunks.totals({ stream: stream.id, mint, maxt })
        : { chunks: 0, lines: 0, bytes: 0 };
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

  /** Bytes of each stream by time step; those of a chunk are spread evenly over its time. */
  async *volumes(
    matchers: readonly Matcher[],
    window: NanosWindow,
    stepMs: number,
    budget: Budget,
  ): AsyncGenerator<StreamVolume> {
    const { mint, maxt } = bounds(window);
    this.#tellLosses(window, budget);
    for await (const stream of this.#matching(matchers, budget)) {
      const steps = new Map<number, number>();
      const held = [...heldIn(stream, mint, maxt)];
      for (const chunk of stream.stored
        ? [...held, ...this.#stored(stream.id, mint, maxt)]
        : held) {
        budget.spend(1);
        spread(chunk, { mint, maxt, stepMs }, steps);
      }
      if (steps.size > 0) {
        yield { labels: stream.labels, steps };
      }
    }
  }

  #tellLosses({ start, end }: NanosWindow, budget: Budget): void {
    this.#damage.touching(start.ms, end.ms).forEach((sentence) => budget.warn(sentence));
  }

  *#stored(stream: number, mint: number, maxt: number): Generator<ChunkRow> {
    const upTo = this.#chunks.lastId();
    for (
      let rows: readonly ChunkRow[] = [], after: ChunkRow | undefined;
      rows.length === pageRows || after === undefined;
      after = rows.at(-1)
    ) {
      rows = this.#chunks.page('forward', { stream, mint, maxt, upTo }, after, pageRows);
      yield* rows;
      if (rows.length === 0) {
        return;
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
      if (
        !stream.gone &&
        matchers.every((matcher) => matcher.matches(labelValue(stream.labels, matcher.name)))
      ) {
        yield stream;
      }
    }
  }

  #touches(stream: Stream, window: NanosWindow): boolean {
    const { mint, maxt } = bounds(window);
    return (
      !heldIn(stream, mint, maxt).next().done ||
      (stream.stored && this.#chunks.touches({ stream: stream.id, mint, maxt }))
    );
  }
}

type Extent = Pick<ChunkRow, 'mint' | 'maxt' | 'lines' | 'bytes'>;

function* heldIn({ sealed, head }: Stream, mint: number, maxt: number): Generator<Extent> {
  for (const chunk of sealed) {
    if (chunk.maxt >= mint && chunk.mint <= maxt) {
      yield { mint: chunk.mint, maxt: chunk.maxt, lines: chunk.count, bytes: chunk.lineBytes };
    }
  }
  if (head !== undefined && head.count > 0) {
    const { ms, count, lines } = head.columns();
    if (ms[count - 1]! >= mint && ms[0]! <= maxt) {
      yield { mint: ms[0]!, maxt: ms[count - 1]!, lines: count, bytes: lines.length };
    }
  }
}

function spread(
  chunk: Extent,
  { mint, maxt, stepMs }: { readonly mint: number; readonly maxt: number; readonly stepMs: number },
  steps: Map<number, number>,
): void {
  const length = chunk.maxt - chunk.mint + 1;
  const [from, to] = [Math.max(mint, chunk.mint), Math.min(maxt, chunk.maxt) + 1];
  for (let step = Math.floor(from / stepMs) * stepMs; step < to; step += stepMs) {
    const share = (Math.min(to, step + stepMs) - Math.max(from, step)) / length;
    steps.set(step, (steps.get(step) ?? 0) + chunk.bytes * share);
  }
}

const bounds = ({ start, end }: NanosWindow): { mint: number; maxt: number } => ({
  mint: start.ms,
  maxt: end.ns === 0 ? end.ms - 1 : end.ms,
});
