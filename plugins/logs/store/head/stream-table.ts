import { type Labels, labelsKey, labelValue, type Matcher } from 'svc/query';
import { type Compressed } from 'svc/store';

import { HeadMemory } from './head-memory.ts';
import { Head } from './head.ts';
import { nobody, StreamOwners } from './stream-owners.ts';

/** A chunk that is complete and waits for the next block. */
export interface SealedChunk {
  /** No other chunk of this run has it. */
  readonly number: number;
  readonly stream: Stream;
  readonly packed: Compressed;
  /** Length before compression. */
  readonly rawLength: number;
  readonly count: number;
  readonly lineBytes: number;
  readonly mint: number;
  readonly maxt: number;
  readonly firstSegment: number;
  readonly lastRecord: number;
  readonly sealedAt: number;
}

export interface Stream {
  readonly id: number;
  readonly labels: Labels;
  head: Head | undefined;
  sealed: SealedChunk[];
  /** Number of its sender. */
  owner: number;
  /** The last record whose lines are in blocks. */
  cutRecord: number;
  /** True if the catalogue has it. */
  stored: boolean;
  /** True if the table has dropped it. */
  gone: boolean;
}

/** All streams, held in memory. */
export class StreamTable {
  readonly #byKey = new Map<string, Stream>();
  /** Streams by label sets that pushes repeat. */
  readonly #byLabels = new WeakMap<Labels, Stream>();
  /** Streams with a head. */
  readonly active = new Set<Stream>();
  readonly owners = new StreamOwners();
  /** Streams that got lines since the last look. */
  readonly grown = new Set<Stream>();
  /** Size of the heads of all streams. */
  headBytes = 0;
  readonly #memory = new HeadMemory();
  #next = 1;

  get size(): number {
    return this.#byKey.size;
  }

  all(): Iterable<Stream> {
    return this.#byKey.values();
  }

  find(labels: Labels): Stream | undefined {
    const known = this.#byLabels.get(labels);
    if (known?.gone === false) {
      return known;
    }
    const stream = this.#byKey.get(labelsKey(labels));
    if (stream !== undefined) {
      this.#byLabels.set(labels, stream);
    }
    return stream;
  }

  /** Restores a stream from the catalogue. */
  restore(id: number, labels: Labels, cutRecord: number): void {
    this.#byKey.set(labelsKey(labels), {
      id,
      labels,
      head: undefined,
      sealed: [],
      owner: nobody,
      cutRecord,
      stored: true,
      gone: false,
    });
    this.owners.count(nobody, { known: 1 });
    this.#next = Math.max(this.#next, id + 1);
  }

  /** Returns the stream of these labels. One that is new, or whose sender is unknown, belongs to `owner`. */
  of(labels: Labels, owner: number = nobody): Stream {
    let stream = this.find(labels);
    if (stream === undefined) {
      stream = {
        id: this.#next++,
        labels,
        head: undefined,
        sealed: [],
        owner,
        cutRecord: 0,
        stored: false,
        gone: false,
      };
      this.#byKey.set(labelsKey(labels), stream);
      this.owners.count(owner, { known: 1 });
    } else if (stream.owner === nobody && owner !== nobody) {
      this.#give(stream, owner);
    }
    return stream;
  }

  headOf(stream: Stream): Head {
    if (stream.head === undefined) {
      stream.head = new Head(this.#memory);
      this.active.add(stream);
      this.owners.count(stream.owner, { active: 1 });
    }
    return stream.head;
  }

  behead(stream: Stream): void {
    if (stream.head !== undefined) {
      this.owners.count(stream.owner, { active: -1 });
    }
    this.headBytes -= stream.head?.bytes ?? 0;
    stream.head?.release();
    stream.head = undefined;
    this.active.delete(stream);
  }

  forget(stream: Stream): void {
    stream.gone = true;
    if (this.#byKey.delete(labelsKey(stream.labels))) {
      this.owners.count(stream.owner, { known: -1 });
    }
  }

  #give(stream: Stream, owner: number): void {
    const isActive = stream.head !== undefined;
    this.owners.count(stream.owner, { known: -1, ...(isActive && { active: -1 }) });
    stream.owner = owner;
    this.owners.count(owner, { known: 1, ...(isActive && { active: 1 }) });
  }

  *matching(matchers: readonly Matcher[]): Generator<Stream> {
    for (const stream of this.#byKey.values()) {
      if (matchers.every((matcher) => matcher.matches(labelValue(stream.labels, matcher.name)))) {
        yield stream;
      }
    }
  }
}
