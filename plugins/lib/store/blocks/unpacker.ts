import { codecs, decompress } from './codec.ts';

const largestKept = 4 * 1024 * 1024;
const sparePacked = 64 * 1024;
/** What is smaller may lie in memory that the runtime shares among many. */
const smallestOwn = Math.max(16 * 1024, Buffer.poolSize / 2);

/**
 * Unpacks one section after another. A search through many sections lets go of nearly all of them at once: their memory is
 * given back here and then, for otherwise the collector works as long as the search does.
 */
export class Unpacker {
  readonly #nobody = new MessageChannel().port1;
  #packed = Buffer.alloc(0);
  #last: Uint8Array | undefined;

  constructor() {
    this.#nobody.close();
  }

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
    this.close();
    const raw = decompress(codec, bytes, rawLength);
    if (codec !== codecs.none && rawLength >= smallestOwn) {
      this.#last = raw;
    }
    return raw;
  }

  /** Gives back what was unpacked last. */
  close(): void {
    if (this.#last !== undefined) {
      const memory = this.#last.buffer as ArrayBuffer;
      this.#last = undefined;
      // What is sent is taken away from the sender at once, also when nobody is there to receive it.
      this.#nobody.postMessage(undefined, [memory]);
    }
  }
}
