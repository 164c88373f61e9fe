import { snappyBlock } from './snappy-block.ts';

/** Names and values by turns: `['device', 'sda', 'mode', 'idle']`. */
export type LabelPairs = readonly string[];

/** Takes samples; what a reader of the machine writes to. */
export interface MetricSink {
  add(name: string, value: number, labels?: LabelPairs, time?: number): void;
}

export interface WriteBody {
  readonly body: Uint8Array;
  readonly samples: number;
}

export interface MetricBatchOptions {
  /** Default time of samples, in milliseconds since the epoch. */
  readonly time: number;
  /** Labels added to every series that does not have one of that name. */
  readonly labels?: LabelPairs;
  /** Max size of a request before compression; a larger one is split. */
  readonly maxBytes?: number;
}

const megabyte = 1024 * 1024;

/** Samples as requests of Prometheus remote write 1.0, written while they come: one series with one sample each. */
export class MetricBatch implements MetricSink {
  readonly #options: MetricBatchOptions;
  readonly #maxBytes: number;
  readonly #request = new Bytes(32 * 1024);
  readonly #series = new Bytes(1024);
  readonly #label = new Bytes(256);
  readonly #pairs: string[] = [];
  readonly #bodies: WriteBody[] = [];
  #pack: ((input: Uint8Array) => Uint8Array) | undefined;
  #samples = 0;
  #total = 0;

  constructor(options: MetricBatchOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? megabyte;
  }

  /** Samples so far. */
  get samples(): number {
    return this.#total;
  }

  add(name: string, value: number, labels: LabelPairs = [], time = this.#options.time): void {
    this.#sort(name, labels);
    const series = this.#series.reset();
    for (let i = 0; i < this.#pairs.length; i += 2) {
      series.u8(0x0a);
      series.block(
        this.#label
          .reset()
          .u8(0x0a)
          .text(this.#pairs[i]!)
          .u8(0x12)
          .text(this.#pairs[i + 1]!),
      );
    }
    series.u8(0x12);
    series.block(this.#label.reset().u8(0x09).double(value).u8(0x10).uvarint(time));
    this.#request.u8(0x0a).block(series);
    this.#samples++;
    this.#total++;
    if (this.#request.length >= this.#maxBytes) {
      this.#cut();
    }
  }

  /** Ready to be sent; the batch is empty afterwards. */
  finish(): readonly WriteBody[] {
    this.#cut();
    return this.#bodies.splice(0);
  }

  #cut(): void {
    if (this.#samples > 0) {
      this.#pack ??= snappyBlock();
      this.#bodies.push({ body: this.#pack(this.#request.view()), samples: this.#samples });
      this.#request.reset();
      this.#samples = 0;
    }
  }

  /**
   * Writes labels sorted by name, as receivers want them, `__name__` among them; an empty value
   * means no label.
   */
  #sort(name: string, labels: LabelPairs): void {
    const pairs = this.#pairs;
    pairs.length = 0;
    pairs.push('__name__', name);
    this.#insert(labels);
    this.#insert(this.#options.labels ?? []);
  }

  #insert(labels: LabelPairs): void {
    const pairs = this.#pairs;
    for (let i = 0; i < labels.length; i += 2) {
      const name = labels[i]!;
      const value = labels[i + 1]!;
      let at = pairs.length;
      while (at > 0 && pairs[at - 2]! > name) {
        at -= 2;
      }
      if (value !== '' && (at === 0 || pairs[at - 2] !== name)) {
        pairs.splice(at, 0, name, value);
      }
    }
  }
}

/** Growing buffer that keeps its memory. */
class Bytes {
  #bytes: Buffer;
  length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  reset(): this {
    this.length = 0;
    return this;
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  u8(value: number): this {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
    return this;
  }

  uvarint(value: number): this {
    this.#reserve(10);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
      this.#bytes[this.length++] = (rest % 128) | 0x80;
    }
    this.#bytes[this.length++] = rest;
    return this;
  }

  double(value: number): this {
    this.#reserve(8);
    this.length = this.#bytes.writeDoubleLE(value, this.length);
    return this;
  }

  text(value: string): this {
    const size = Buffer.byteLength(value);
    this.uvarint(size);
    this.#reserve(size);
    this.length += this.#bytes.write(value, this.length, size, 'utf8');
    return this;
  }

  block(other: Bytes): this {
    this.uvarint(other.length);
    this.#reserve(other.length);
    this.#bytes.set(other.view(), this.length);
    this.length += other.length;
    return this;
  }

  #reserve(more: number): void {
    if (this.length + more > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.length + more, this.#bytes.length * 2));
      grown.set(this.view());
      this.#bytes = grown;
    }
  }
}
