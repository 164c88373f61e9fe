import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The last bytes of a binary: how long the index before them is, and this. */
const mark = Buffer.from('svc cargo 1\n');
const lengthBytes = 4;

type Index = Readonly<Record<string, readonly [at: number, bytes: number]>>;

/** Returns what to append to a program of `size` bytes, for it to find there. */
export function behind(size: number, cargo: ReadonlyMap<string, Uint8Array>): Buffer {
  let at = size;
  const places: [string, [number, number]][] = [];
  for (const [name, { length }] of cargo) {
    places.push([name, [at, length]]);
    at += length;
  }
  const index = Buffer.from(JSON.stringify(Object.fromEntries(places)));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(index.length);
  return Buffer.concat([...cargo.values(), index, length, mark]);
}

/**
 * Contents of a binary, read on demand. Assets of Node's single-executable form are mapped: what
 * was read once counts as memory of svc for as long as it runs.
 */
export class Carried {
  readonly #file: number;
  readonly #index: Index;

  /** The file stays open: while it runs, another version may take its name. */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    const { size } = fstatSync(this.#file);
    const end = this.#read(
      Math.max(0, size - mark.length - lengthBytes),
      lengthBytes + mark.length,
    );
    if (!end.subarray(lengthBytes).equals(mark)) {
      closeSync(this.#file);
      throw new Error(
        `${path} is incomplete: the files that svc carries are missing; download it again`,
      );
    }
    const length = end.readUInt32LE();
    this.#index = JSON.parse(this.#read(size - end.length - length, length).toString()) as Index;
  }

  bytes(name: string): Buffer {
    const place = Object.hasOwn(this.#index, name) ? this.#index[name] : undefined;
    if (place === undefined) {
      throw new Error(`svc does not contain ${name}`);
    }
    return this.#read(...place);
  }

  text(name: string): string {
    return this.bytes(name).toString();
  }

  #read(at: number, bytes: number): Buffer {
    const content = Buffer.allocUnsafeSlow(bytes);
    for (let read = 0; read < bytes;) {
      const more = readSync(this.#file, content, read, bytes - read, at + read);
      if (more === 0) {
        throw new Error('the file of svc is truncated; download it again');
      }
      read += more;
    }
    return content;
  }
}

let own: Carried | undefined;

/** Returns the contents of this binary. */
export const carried = (): Carried => (own ??= new Carried('/proc/self/exe'));
