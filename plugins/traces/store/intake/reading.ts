import { ProtoReader } from 'svc/store';

import type { ScopeName } from '../columns/columns.ts';
import { valueless } from '../head/head-dictionary.ts';
import type { Head } from '../head/head.ts';
import type { TraceLimits } from '../head/limits.ts';
import { errors } from './errors.ts';

export interface Range {
  readonly start: number;
  readonly end: number;
}

interface Numbers {
  readonly length: number;
  push(value: number): void;
}

/** Body that is being read into a head. Nothing is copied out of it before the head keeps it. */
export class Reading {
  /** True if a text or value was truncated since this was set to false. */
  hasCut = false;
  readonly body: Buffer;
  readonly head: Head;
  readonly limits: TraceLimits;
  readonly #view: DataView;

  constructor(body: Buffer, head: Head, limits: TraceLimits) {
    this.body = body;
    this.head = head;
    this.limits = limits;
    this.#view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  }

  reader({ start, end }: Range): ProtoReader {
    return new ProtoReader(this.body, start, end, 0, this.#view);
  }

  /** Returns the range of the field that `next()` returned. */
  block(reader: ProtoReader): Range {
    let start = this.skip(reader);
    while (this.body[start]! > 0x7f) {
      start++;
    }
    return { start: start + 1, end: reader.position };
  }

  /** Skips a field of bytes; returns the position of its length. */
  skip(reader: ProtoReader): number {
    if (reader.wire !== 2) {
      throw errors.wire_type({ wire: reader.wire });
    }
    const start = reader.position;
    reader.skip();
    return start;
  }

  /** Returns the first field 1 of a message; an empty range if there is none. */
  first(range: Range): Range {
    const reader = this.reader(range);
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) {
        return this.block(reader);
      }
      reader.skip();
    }
    return { start: 0, end: 0 };
  }

  /** Returns the start of an id with exactly this size; otherwise -1. */
  anyId(reader: ProtoReader, size: number): number {
    const start = this.skip(reader);
    return reader.position - start === size + 1 && this.body[start] === size ? start + 1 : -1;
  }

  /** The same of one that is not all zeros. */
  id(reader: ProtoReader, size: number): number {
    const start = this.anyId(reader, size) - 1;
    if (start < 0) {
      return -1;
    }
    for (let at = start + 1; at < reader.position; at++) {
      if (this.body[at] !== 0) {
        return start + 1;
      }
    }
    return -1;
  }

  text(reader: ProtoReader): number {
    const { start, end } = this.block(reader);
    const { dictionary } = this.head;
    const text = dictionary.textOfBytes(this.body, start, end);
    this.hasCut ||= dictionary.shortened.text(text);
    return text;
  }

  /** Puts an attribute behind those from `first` on; whether all of it could be kept. */
  pair(reader: ProtoReader, scope: ScopeName, into: Numbers, first: number): boolean {
    const start = this.skip(reader);
    if (into.length - first >= this.limits.attributes) {
      return false;
    }
    const pair = this.head.dictionary.pairOfBytes(this.body, start, reader.position, scope);
    if (pair < 0) {
      return pair === valueless;
    }
    into.push(pair);
    return !this.head.dictionary.shortened.pair(pair);
  }
}
