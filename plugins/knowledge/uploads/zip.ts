import { inflateRawSync } from 'node:zlib';

const maxEntries = 2_000;
const maxBytes = 48 * 1024 * 1024;
const endMark = 0x06054b50;
const entryMark = 0x02014b50;

interface Entry {
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/** Why a file cannot be a document, for whoever uploaded it. */
export class ParseRefusal extends Error {
  override readonly name = 'ParseRefusal';
}

/** The files of a zip that is all there, read one by one: no more of them, and no more bytes, than a document has. */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries = new Map<string, Entry>();
  #inflated = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
    if (end < 0 || end + 22 > bytes.length || bytes.readUInt32LE(end) !== endMark) {
      throw new ParseRefusal('the file is cut off: its end is missing');
    }
    const count = bytes.readUInt16LE(end + 10);
    if (count > maxEntries) {
      throw new ParseRefusal(`the file has ${count} parts, which no document has`);
    }
    this.#read(bytes.readUInt32LE(end + 16), count);
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#entries.keys());
  }

  /** What a part holds; undefined when there is none of that name. */
  text(name: string): string | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      return undefined;
    }
    const { at, packed, size, method } = entry;
    this.#inflated += size;
    if (this.#inflated > maxBytes) {
      throw new ParseRefusal('the file unpacks to more than a document can be');
    }
    try {
      // The name before the data may be longer than the one in the list.
      const start = at + 30 + this.#bytes.readUInt16LE(at + 26) + this.#bytes.readUInt16LE(at + 28);
      const data = this.#bytes.subarray(start, start + packed);
      const plain =
        method === 0 ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
      return new TextDecoder('utf-8', { fatal: true }).decode(plain);
    } catch {
      throw new ParseRefusal(
        `the part ${name} of the file is damaged, or does not have the size that the file declares`,
      );
    }
  }

  #read(start: number, count: number): void {
    let at = start;
    for (let index = 0; index < count; index++) {
      if (at + 46 > this.#bytes.length || this.#bytes.readUInt32LE(at) !== entryMark) {
        throw new ParseRefusal('the list of parts of the file is damaged');
      }
      const [flags, method] = [this.#bytes.readUInt16LE(at + 8), this.#bytes.readUInt16LE(at + 10)];
      const [packed, size] = [this.#bytes.readUInt32LE(at + 20), this.#bytes.readUInt32LE(at + 24)];
      const [nameLength, extra, comment] = [28, 30, 32].map((offset) =>
        this.#bytes.readUInt16LE(at + offset),
      ) as [number, number, number];
      const name = this.#bytes.toString('utf8', at + 46, at + 46 + nameLength);
      if ((flags & 1) === 1) {
        throw new ParseRefusal('the file is encrypted; remove its password and upload it again');
      }
      if (this.#entries.has(name) || ![0, 8].includes(method)) {
        throw new ParseRefusal(
          'the file has two parts of one name, or one that is packed in a way that Word does not use',
        );
      }
      this.#entries.set(name, { method, packed, size, at: this.#bytes.readUInt32LE(at + 42) });
      at += 46 + nameLength + extra + comment;
    }
  }
}
