import { type Labels, labelsKey } from 'svc/query';

import type { Nanos } from './lines/source.ts';

export interface FoundLine {
  readonly labels: Labels;
  readonly ms: number;
  readonly ns: number;
  readonly line: string;
  /** Labels that are not the stream's, if labels are separated by origin. */
  readonly beside?: LabelsBeside;
}

export interface LabelsBeside {
  readonly metadata: Labels;
  readonly parsed: Labels;
}

interface Held extends FoundLine {
  readonly order: number;
}

const sizeOf = ({ line, labels }: FoundLine): number =>
  labels.reduce((sum, { length }) => sum + length, line.length);

/** The best lines so far, as many as asked for: the newest or the oldest. The worst of them is at the top of the heap. */
export class Page {
  readonly #limit: number;
  readonly #newest: boolean;
  readonly #heap: Held[] = [];
  #arrived = 0;
  /** Characters of the lines and their labels. */
  size = 0;

  constructor(limit: number, newest: boolean) {
    this.#limit = limit;
    this.#newest = newest;
  }

  /** The worst time still wanted, once the page is full. */
  get bound(): Nanos | undefined {
    return this.#heap.length < this.#limit ? undefined : this.#heap[0];
  }

  /** Returns whether a line of this time could still be added. */
  wants(ms: number, ns: number): boolean {
    if (this.#heap.length < this.#limit) {
      return true;
    }
    const worst = this.#heap[0]!;
    const later = ms - worst.ms || ns - worst.ns;
    return this.#newest ? later > 0 : later < 0;
  }

  add(line: FoundLine): void {
    const held = { ...line, order: this.#arrived++ };
    this.size += sizeOf(line);
    if (this.#heap.length < this.#limit) {
      this.#heap.push(held);
      this.#rise(this.#heap.length - 1);
    } else {
      this.size -= sizeOf(this.#heap[0]!);
      this.#heap[0] = held;
      this.#sink();
    }
  }

  /** All of them, best first. */
  lines(): FoundLine[] {
    return this.#heap
      .toSorted((a, b) => (this.#worse(a, b) ? 1 : -1))
      .map(({ order: _order, ...line }) => line);
  }

  #worse(a: Held, b: Held): boolean {
    const later = a.ms - b.ms || a.ns - b.ns;
    return later === 0 ? a.order > b.order : later < 0 === this.#newest;
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let i = from; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!this.#worse(heap[i]!, heap[parent]!)) {
        return;
      }
      [heap[i], heap[parent]] = [heap[parent]!, heap[i]!];
      i = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let i = 0; ;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let worst = i;
      worst = left < heap.length && this.#worse(heap[left]!, heap[worst]!) ? left : worst;
      worst = right < heap.length && this.#worse(heap[right]!, heap[worst]!) ? right : worst;
      if (worst === i) {
        return;
      }
      [heap[i], heap[worst]] = [heap[worst]!, heap[i]!];
      i = worst;
    }
  }
}

export interface FoundStream {
  readonly labels: Labels;
  readonly lines: readonly FoundLine[];
}

/** The lines of a page, by their label sets; each in the order of the page. */
export function streamsOf(lines: readonly FoundLine[]): FoundStream[] {
  const streams = new Map<string, { labels: Labels; lines: FoundLine[] }>();
  for (const line of lines) {
    const key = labelsKey(line.labels);
    const stream = streams.get(key) ?? { labels: line.labels, lines: [] };
    streams.set(key, stream);
    stream.lines.push(line);
  }
  return [...streams.values()];
}
