import { crc32, inflateRawSync } from 'node:zlib';

const [endMark, centralMark, localMark] = [0x06054b50, 0x02014b50, 0x04034b50];
const endBytes = 22;
const centralBytes = 46;
const localBytes = 30;
const maxComment = 0xffff;

/** One file or folder of an archive. */
export interface ZipEntry {
  /** Name, a character a byte: what other systems make of it is for the caller to say. */
  readonly name: string;
  /** Bytes it unpacks to, as the archive says. */
  readonly size: number;
  readonly isFolder: boolean;
  /** The kind of file as Unix writes it, the upper four bits of its mode; 0 where another system has written it. */
  readonly unixKind: number;
}

interface Placed extends ZipEntry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly offset: number;
}

export type ZipProblem = 'cut-off' | 'damaged' | 'zip64' | 'locked' | 'method' | 'bomb';

/** Why an archive is none that is read; `entry`: of which the message speaks, which then has no subject. */
export class BadZip extends Error {
  override readonly name = 'BadZip';
  readonly problem: ZipProblem;
  readonly entry: string | undefined;

  constructor(problem: ZipProblem, what: string, entry?: string) {
    super(what);
    this.problem = problem;
    this.entry = entry;
  }
}

/**
 * A zip archive by its central directory, held against the headers before the data. Throws BadZip for what a reader could take for
 * something else than another reader does.
 *
 * ```ts
 * const zip = new ZipArchive(bytes);
 * const texts = zip.entries.filter(({ size }) => size < max).map((entry) => zip.read(entry).toString());
 * ```
 */
export class ZipArchive {
  /** Entries in the order in which they lie in the archive. */
  readonly entries: readonly ZipEntry[];
  readonly #data = new Map<ZipEntry, Buffer>();

  constructor(bytes: Buffer) {
    const placed = placedIn(bytes).toSorted((a, b) => a.offset - b.offset);
    let before = 0;
    for (const entry of placed) {
      if (entry.offset < before) {
        throw new BadZip('bomb', 'shares its bytes with another entry, as a bomb does', entry.name);
      }
      const { data, next } = dataOf(bytes, entry);
      this.#data.set(entry, data);
      before = next;
    }
    this.entries = placed;
  }

  /** Unpacks one of the entries, to as many bytes as it says; whoever calls has counted them. */
  read(entry: ZipEntry): Buffer {
    const { name, method, size, crc } = entry as Placed;
    const data = this.#data.get(entry)!;
    let content: Buffer;
    try {
      content = method === 0 ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
    } catch {
      throw new BadZip(
        'damaged',
        `cannot be unpacked to the ${size} bytes that the archive says`,
        name,
      );
    }
    if (content.length !== size || crc32(content) !== crc) {
      throw new BadZip(
        'damaged',
        'is damaged: its size or checksum differs from what the archive says',
        name,
      );
    }
    return content;
  }
}

function placedIn(bytes: Buffer): readonly Placed[] {
  const at = endOf(bytes);
  const count = bytes.readUInt16LE(at + 10);
  const size = bytes.readUInt32LE(at + 12);
  const start = bytes.readUInt32LE(at + 16);
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    throw new BadZip('zip64', 'the archive is a zip64; make a smaller one');
  }
  if (bytes.readUInt16LE(at + 4) !== 0 || start + size > at) {
    throw new BadZip('damaged', 'the directory of the zip archive lies outside of it');
  }
  const entries: Placed[] = [];
  let cursor = start;
  for (let index = 0; index < count; index += 1) {
    if (cursor + centralBytes > start + size || bytes.readUInt32LE(cursor) !== centralMark) {
      throw new BadZip('damaged', 'the directory of the zip archive is damaged');
    }
    const nameBytes = bytes.readUInt16LE(cursor + 28);
    const next =
      cursor +
      centralBytes +
      nameBytes +
      bytes.readUInt16LE(cursor + 30) +
      bytes.readUInt16LE(cursor + 32);
    if (next > start + size) {
      throw new BadZip('damaged', 'the directory of the zip archive is damaged');
    }
    entries.push(entryAt(bytes, cursor, nameBytes));
    cursor = next;
  }
  return entries;
}

/** The directory ends in a comment of any length. */
function endOf(bytes: Buffer): number {
  for (
    let at = bytes.length - endBytes;
    at >= 0 && at >= bytes.length - endBytes - maxComment;
    at -= 1
  ) {
    if (
      bytes.readUInt32LE(at) === endMark &&
      at + endBytes + bytes.readUInt16LE(at + 20) === bytes.length
    ) {
      return at;
    }
  }
  throw new BadZip('cut-off', 'the zip archive has no directory at its end; it may be truncated');
}

function entryAt(bytes: Buffer, at: number, nameBytes: number): Placed {
  const name = bytes.toString('latin1', at + centralBytes, at + centralBytes + nameBytes);
  const isOfUnix = bytes.readUInt8(at + 5) === 3;
  if ((bytes.readUInt16LE(at + 8) & 1) !== 0) {
    throw new BadZip('locked', 'is protected by a password', name);
  }
  const method = bytes.readUInt16LE(at + 10);
  if (method !== 0 && method !== 8) {
    throw new BadZip('method', `is compressed with method ${method}; use deflate`, name);
  }
  return {
    name,
    size: bytes.readUInt32LE(at + 24),
    isFolder: name.endsWith('/'),
    unixKind: isOfUnix ? (bytes.readUInt16LE(at + 40) >> 12) & 0xf : 0,
    method,
    crc: bytes.readUInt32LE(at + 16),
    packed: bytes.readUInt32LE(at + 20),
    offset: bytes.readUInt32LE(at + 42),
  };
}

function dataOf(
  bytes: Buffer,
  { name, offset, packed, method }: Placed,
): { readonly data: Buffer; readonly next: number } {
  if (offset + localBytes > bytes.length || bytes.readUInt32LE(offset) !== localMark) {
    throw new BadZip('damaged', 'is not where the directory of the archive says', name);
  }
  const nameBytes = bytes.readUInt16LE(offset + 26);
  const begin = offset + localBytes + nameBytes + bytes.readUInt16LE(offset + 28);
  const localName = bytes.toString('latin1', offset + localBytes, offset + localBytes + nameBytes);
  if (
    localName !== name ||
    bytes.readUInt16LE(offset + 8) !== method ||
    begin + packed > bytes.length
  ) {
    throw new BadZip('damaged', 'differs between the archive and its central directory', name);
  }
  return { data: bytes.subarray(begin, begin + packed), next: begin + packed };
}
