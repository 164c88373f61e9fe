import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { Clock } from 'svc/sdk';

import type { Size } from '../protocol/frames.ts';
import { limits } from '../protocol/limits.ts';
import { Cast } from './cast.ts';
import type { SealedFile, Tally } from './sealed-file.ts';

const packed = promisify<
  Uint8Array,
  { readonly level: number; readonly chunkSize: number },
  Buffer
>(gzip);
/** A shell that prints without end must not keep the others waiting for a core; text becomes a quarter larger than it could be. */
const quick = 1;
/** Output size of zlib at a time; between two of them it yields to the event loop. */
const chunk = { least: 1_024, most: 64 * 1_024 };
const leastPageBytes = 1_024;

export interface RecorderOptions extends Size {
  readonly file: SealedFile;
  readonly term: string;
  readonly title: string;
  readonly clock: Clock;
  readonly after: (ms: number, work: () => void) => void;
  readonly maxBytes: number;
  /** Returns the running totals of the session; stored with each batch. */
  readonly counted: () => Omit<Tally, 'ms'>;
  /** Called once when nothing more can be recorded. */
  readonly failed: (why: 'full' | 'disk', cause: unknown) => void;
  /** Called when there is capacity again after `full`. */
  readonly drained: () => void;
}

export interface Recorded {
  /** Size of the `.cast.gz`, as downloaded. */
  readonly bytes: number;
  readonly sha256: string;
  readonly durationMs: number;
}

/** Writes a recording as it happens. Each batch is a gzip member of its own, so a file that ends early is still one. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #startedAt: number;
  readonly #cast: Cast;
  readonly #hash = createHash('sha256');
  readonly #page = new Page();
  #unwritten = 0;
  #bytes = 0;
  #isFull = false;
  #isTimed = false;
  #hasBegun = false;
  #broken: { readonly why: 'full' | 'disk'; readonly cause: unknown } | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: RecorderOptions) {
    const { clock, cols, rows, term, title } = options;
    this.#options = options;
    this.#startedAt = clock.monotonic();
    this.#cast = new Cast({ cols, rows, term, title, timestamp: Math.floor(clock.now() / 1_000) });
  }

  /**
   * Starts a recording with the header: a disk that accepts nothing is noticed before anything is
   * shown.
   */
  static async start(options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options);
    recorder.#add(recorder.#cast.header);
    await recorder.flush();
    if (recorder.#broken) {
      await options.file.close();
      throw recorder.#broken.cause;
    }
    recorder.#hasBegun = true;
    return recorder;
  }

  /** True if so much is not on disk yet that the shell has to wait. */
  get full(): boolean {
    return this.#isFull;
  }

  output(bytes: Uint8Array): void {
    this.#add(this.#cast.output(this.#elapsedMs(), bytes));
  }

  resize(size: Size): void {
    this.#add(this.#cast.resize(this.#elapsedMs(), size));
  }

  /** Hands on what there is; resolves once it is written. */
  flush(): Promise<void> {
    if (this.#page.length > 0) {
      const batch = this.#page.take();
      const reached = this.#tally();
      this.#writing = this.#writing.then(() => this.#write(batch, reached));
    }
    return this.#writing;
  }

  /** Undefined when it could not be completed. */
  async finish(): Promise<Recorded | undefined> {
    const { file } = this.#options;
    const durationMs = Math.round(this.#elapsedMs());
    this.#add(this.#cast.end(durationMs));
    await this.flush();
    try {
      // One that became full has its max length, and is complete.
      if (this.#broken?.why !== 'disk') {
        await file.finish(this.#tally());
      }
    } catch (cause) {
      this.#broken = { why: 'disk', cause };
    }
    await file.close();
    return this.#broken?.why !== 'disk'
      ? { bytes: this.#bytes, sha256: this.#hash.digest('hex'), durationMs }
      : undefined;
  }

  #elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#startedAt;
  }

  #tally(): Tally {
    return { ...this.#options.counted(), ms: Math.round(this.#elapsedMs()) };
  }

  #add(line: string): void {
    if (line === '' || this.#broken) {
      return;
    }
    this.#unwritten += this.#page.add(line);
    this.#isFull ||= this.#unwritten > limits.unrecordedBytes;
    if (this.#page.length >= limits.recordBatchBytes) {
      void this.flush();
    } else if (!this.#isTimed) {
      this.#isTimed = true;
      this.#options.after(limits.recordMs, () => void this.#handOn());
    }
  }

  /**
   * Hands the batch on. On a slow disk a batch grows until the previous one is written: there is
   * never more than one in progress for lack of time.
   */
  async #handOn(): Promise<void> {
    await this.#writing;
    this.#isTimed = false;
    await this.flush();
  }

  async #write(batch: Uint8Array, reached: Tally): Promise<void> {
    if (this.#broken) {
      return;
    }
    try {
      const chunkSize = Math.min(chunk.most, Math.max(chunk.least, batch.length));
      const member = await packed(batch, { level: quick, chunkSize });
      if (this.#bytes + member.length > this.#options.maxBytes) {
        return this.#break('full', undefined);
      }
      await this.#options.file.write(member, reached);
      this.#hash.update(member);
      this.#bytes += member.length;
    } catch (cause) {
      this.#break('disk', cause);
    } finally {
      this.#unwritten -= batch.length;
      if (this.#isFull && this.#unwritten <= limits.unrecordedBytes / 2) {
        this.#isFull = false;
        this.#options.drained();
      }
    }
  }

  /** Handles a failure; one before the start is thrown instead. */
  #break(why: 'full' | 'disk', cause: unknown): void {
    this.#broken = { why, cause };
    if (this.#hasBegun) {
      this.#options.failed(why, cause);
    }
  }
}

/** Lines on their way to the disk. As bytes at once: kept as text they would be in the way of the garbage collector, and all be turned into bytes at one time. */
class Page {
  #bytes = Buffer.alloc(0);
  #length = 0;
  /** Expected size: that of the last one, plus a margin. */
  #usual = leastPageBytes;

  get length(): number {
    return this.#length;
  }

  /** Adds a line; returns its size. */
  add(line: string): number {
    const more = Buffer.byteLength(line);
    if (this.#length + more > this.#bytes.length) {
      const wider = Buffer.allocUnsafeSlow(
        Math.max(this.#usual, 2 * this.#length, this.#length + more),
      );
      wider.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = wider;
    }
    this.#bytes.write(line, this.#length);
    this.#length += more;
    return more;
  }

  /** All there is; what comes next is written elsewhere. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#usual = Math.max(leastPageBytes, this.#length + (this.#length >> 3));
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }
}
