import { codecs, decompress } from './codec.ts';

const largestKept = 4 * 1024 * 1024;
const sparePacked = 64 * 1024;
/** Min size of a buffer with its own memory; smaller ones may share the runtime's pool. */
const smallestOwn = Math.max(16 * 1024, Buffer.poolSize / 2);

/**
 * Unpacker of one section after another. A search through many sections drops nearly all of them at
 * once: their memory is returned here and then, as the collector would otherwise work as long as
 * the search does.
 */
export class Unpacker {
  readonly #nobody = new MessageChannel().port1;
  #packed = Buffer.alloc(0);
  #last: Uint8Array | undefined;

  constructor() {
    this.#nobody.close();
  }

  /** Returns a buffer to unpack into, of this size; valid until the next request. */
  room(length: number): Buffer {
    if (length > largestKept) {
      return Buffer.allocUnsafeSlow(length);
    }
    if (this.#packed.length < length) {
      this.#packed = Buffer.allocUnsafeSlow(length + sparePacked);
    }
    return this.#packed.subarray(0, length);
  }

  /**
   * Unpacks like `decompress`; the result is valid only until the next call, so copy it to keep it.
   */
  unpack(codec: number, bytes: Uint8Array, rawLength: number): Uint8Array {
    this.close();
    const raw = decompress(codec, bytes, rawLength);
    if (codec !== codecs.none && rawLength >= smallestOwn) {
      this.#last = raw;
    }
    return raw;
  }

  /** Frees what was unpacked last. */
  close(): void {
    if (this.#last !== undefined) {
      const memory = this.#last.buffer as ArrayBuffer;
      this.#last = undefined;
      // Transferred memory leaves the sender immediately, even without a receiver.
      this.#nobody.postMessage(undefined, [memory]);
    }
  }
}
