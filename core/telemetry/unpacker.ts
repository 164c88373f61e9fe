import { codecs, decompress, decompressAside } from './codec.ts';

const largestKept = 4 * 1024 * 1024;
const sparePacked = 64 * 1024;
/** What is smaller may lie in memory that the runtime shares among many, and is not worth another core. */
const smallestOwn = Math.max(16 * 1024, Buffer.poolSize / 2);
/** The one that is wanted now and the one after it. */
const mostAhead = 2;

/** A section as it is stored: `stored` bytes that come to `raw`. */
export interface Packed {
  readonly codec: number;
  readonly stored: number;
  readonly raw: number;
}

interface Begun {
  readonly done: Promise<void>;
  bytes?: Uint8Array;
}

/**
 * Unpacks one section after another. A search through many sections lets go of nearly all of them at once: their memory is
 * given back here and then, for otherwise the collector works as long as the search does.
 */
export class Unpacker {
  readonly #ahead = new Map<string, Begun>();
  #packed = Buffer.alloc(0);
  #last: Uint8Array | undefined;

  /** For what is going to be unpacked: so many bytes, which are valid until they are asked for again. */
  room(length: number): Buffer {
    if (length > largestKept) {
      return Buffer.allocUnsafeSlow(length);
    }
    if (this.#packed.length < length) {
      this.#packed = Buffer.allocUnsafeSlow(length + sparePacked);
    }
    return this.#packed.subarray(0, length);
  }

  /** As `decompress`, and valid only until the next one; whoever keeps it copies it. */
  unpack(codec: number, bytes: Uint8Array, rawLength: number): Uint8Array {
    const raw = decompress(codec, bytes, rawLength);
    this.#lend(codec !== codecs.none && rawLength >= smallestOwn ? raw : undefined);
    return raw;
  }

  /**
   * Unpacks a section on another core, to be taken when what it answers is done. Undefined where that is not worth it, or too
   * many are on their way. It does not fail: there is nothing to take then, and whoever reads the section finds out why.
   */
  ahead(key: string, { codec, stored, raw }: Packed, fill: (packed: Buffer) => boolean): Promise<void> | undefined {
    const known = this.#ahead.get(key);
    if (known !== undefined) {
      return known.done;
    }
    if (this.#ahead.size >= mostAhead || codec === codecs.none || raw < smallestOwn) {
      return undefined;
    }
    const packed = Buffer.allocUnsafeSlow(stored);
    if (!fill(packed)) {
      return undefined;
    }
    const begun: Begun = {
      done: decompressAside(codec, packed, raw)
        .then((bytes) => void (begun.bytes = bytes), ignored)
        .then(() => giveBack(packed)),
    };
    this.#ahead.set(key, begun);
    return begun.done;
  }

  /** What was unpacked ahead, valid only until the next one. */
  take(key: string): Uint8Array | undefined {
    const bytes = this.#ahead.get(key)?.bytes;
    this.#ahead.delete(key);
    if (bytes !== undefined) {
      this.#lend(bytes);
    }
    return bytes;
  }

  /** Gives back what was unpacked last. */
  close(): void {
    this.#lend(undefined);
  }

  #lend(bytes: Uint8Array | undefined): void {
    if (this.#last !== undefined) {
      giveBack(this.#last);
    }
    this.#last = bytes;
  }
}

const ignored = (): void => undefined;

const nobody = new MessageChannel().port1;
nobody.close();

/** What is sent is taken away from the sender at once, also when nobody is there to receive it. */
const giveBack = ({ buffer }: Uint8Array): void => nobody.postMessage(undefined, [buffer as ArrayBuffer]);
