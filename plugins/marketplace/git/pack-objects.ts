import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';

import { refused } from '../archive/entry-list.ts';

type GitKind = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  readonly kind: GitKind;
  readonly data: Buffer;
}

const kinds: readonly (GitKind | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];
const ofsDelta = 6;
const refDelta = 7;
const maxObjects = 100_000;
const maxBytes = 256 * 1024 * 1024;

const damaged = (): Error => refused('the repository sent objects that cannot be read');

interface Raw {
  readonly kind: GitKind | undefined;
  readonly base: number | string | undefined;
  readonly data: Buffer;
}

/** The objects of a packfile by their names, each checked by its own hash. */
export function objectsOf(pack: Buffer): ReadonlyMap<string, GitObject> {
  if (pack.length < 32 || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2) {
    throw damaged();
  }
  const count = pack.readUInt32BE(8);
  if (count > maxObjects) {
    throw refused(`the repository has more than ${maxObjects} objects in one commit`);
  }
  if (!createHash('sha1').update(pack.subarray(0, -20)).digest().equals(pack.subarray(-20))) {
    throw damaged();
  }
  return namedObjects(rawObjects(pack, count));
}

function rawObjects(pack: Buffer, count: number): ReadonlyMap<number, Raw> {
  const raw = new Map<number, Raw>();
  let at = 12;
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const begin = at;
    const first = byteAt(pack, at++);
    const type = (first >> 4) & 7;
    let size = first & 15;
    let more = (first & 0x80) !== 0;
    for (let factor = 16; more; factor *= 128) {
      const byte = byteAt(pack, at++);
      size += (byte & 0x7f) * factor;
      more = (byte & 0x80) !== 0;
    }
    let base: number | string | undefined;
    if (type === ofsDelta) {
      const back = backOf(pack, at);
      base = begin - back.distance;
      at = back.next;
    } else if (type === refDelta) {
      base = pack.toString('hex', at, at + 20);
      at += 20;
    } else if (kinds[type] === undefined) {
      throw damaged();
    }
    total += size;
    if (!Number.isSafeInteger(size) || total > maxBytes) {
      throw refused(`the commit unpacks to more than ${maxBytes / 1024 / 1024} MiB`);
    }
    const { data, used } = inflated(pack.subarray(at), size);
    raw.set(begin, { kind: kinds[type], base, data });
    at += used;
  }
  return raw;
}

function backOf(pack: Buffer, start: number): { readonly distance: number; readonly next: number } {
  let at = start;
  let byte = byteAt(pack, at++);
  let distance = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = byteAt(pack, at++);
    distance = (distance + 1) * 128 + (byte & 0x7f);
  }
  return { distance, next: at };
}

function inflated(bytes: Buffer, size: number): { readonly data: Buffer; readonly used: number } {
  try {
    const { buffer, engine } = inflateSync(bytes, {
      info: true,
      maxOutputLength: size + 1,
    }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (buffer.length !== size) {
      throw damaged();
    }
    return { data: buffer, used: engine.bytesWritten };
  } catch {
    throw damaged();
  }
}

/** Resolves objects; deltas may be based on others, which may come later. */
function namedObjects(raw: ReadonlyMap<number, Raw>): ReadonlyMap<string, GitObject> {
  const named = new Map<string, GitObject>();
  const settle = (object: GitObject): string => {
    const name = createHash('sha1')
      .update(`${object.kind} ${object.data.length}\0`)
      .update(object.data)
      .digest('hex');
    named.set(name, object);
    return name;
  };
  /** Deltas by their base: each is applied once, in whatever order they came. */
  const standing = new Map<number | string, [number, Buffer][]>();
  const ready: [number, GitObject][] = [];
  for (const [offset, { kind, base, data }] of raw) {
    if (kind !== undefined) {
      ready.push([offset, { kind, data }]);
    } else {
      const others = standing.get(base!) ?? [];
      others.push([offset, data]);
      standing.set(base!, others);
    }
  }
  let bytes = 0;
  let settled = 0;
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    const [offset, object] = next;
    settled += 1;
    for (const base of [offset, settle(object)]) {
      for (const [at, delta] of standing.get(base) ?? []) {
        const data = applied(object.data, delta);
        bytes += data.length;
        if (bytes > maxBytes) {
          throw refused(`the commit unpacks to more than ${maxBytes / 1024 / 1024} MiB`);
        }
        ready.push([at, { kind: object.kind, data }]);
      }
      standing.delete(base);
    }
  }
  if (settled < raw.size) {
    throw damaged();
  }
  return named;
}

/** A delta is copies from its base, and new bytes. */
function applied(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const size = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = byteAt(delta, at++);
      value += (byte & 0x7f) * factor;
      if ((byte & 0x80) === 0) {
        return value;
      }
    }
  };
  const from = size();
  const to = size();
  if (from !== base.length || !(to <= maxBytes)) {
    throw damaged();
  }
  const result = Buffer.alloc(to);
  let filled = 0;
  while (at < delta.length) {
    const operation = byteAt(delta, at++);
    let piece: Buffer;
    if ((operation & 0x80) === 0) {
      piece = delta.subarray(at, at + operation);
      at += operation;
    } else {
      const field = (bits: readonly number[]): number =>
        bits.reduce(
          (sum, bit, index) =>
            (operation & bit) === 0 ? sum : sum + byteAt(delta, at++) * 256 ** index,
          0,
        );
      const offset = field([1, 2, 4, 8]);
      const length = field([16, 32, 64]) || 0x10000;
      piece = base.subarray(offset, offset + length);
    }
    if (piece.length === 0 || filled + piece.length > to) {
      throw damaged();
    }
    filled += piece.copy(result, filled);
  }
  if (filled !== to) {
    throw damaged();
  }
  return result;
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) {
    throw damaged();
  }
  return byte;
}
