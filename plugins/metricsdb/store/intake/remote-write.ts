import { type SvcError } from 'svc/sdk';
import { labelsOf } from 'svc/query';

import { errors } from './errors.ts';
import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { readRawLabels } from './raw-labels.ts';

const corrupt = (): SvcError => errors.remote_write();

/**
 * Reads a remote write request of version 1 directly into the intake: no object per series or
 * sample. The label messages of a series are contiguous, and looked up as bytes.
 */
export function readRemoteWrite(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  const reader = new RemoteWriteReader(bytes, intake, metadata);
  reader.request();
}

const textDecoder = new TextDecoder();

class RemoteWriteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #intake: Intake;
  readonly #metadata: MetadataSink;
  #at = 0;
  /** Holder of one number. Not a plain field: a changing number would be a new object each time. */
  readonly #number = new Float64Array(1);

  constructor(bytes: Uint8Array, intake: Intake, metadata: MetadataSink) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#intake = intake;
    this.#metadata = metadata;
  }

  request(): void {
    const bytes = this.#bytes;
    while (this.#at < bytes.length) {
      const tag = bytes[this.#at++]!;
      if (tag === 0x0a) {
        this.#series(this.#end(bytes.length));
      } else if (tag === 0x1a) {
        this.#readMetadata(this.#end(bytes.length));
      } else {
        this.#skip(tag, bytes.length);
      }
    }
  }

  #series(end: number): void {
    const bytes = this.#bytes;
    const intake = this.#intake;
    const begin = this.#at;
    while (this.#at < end && bytes[this.#at] === 0x0a) {
      this.#at++;
      this.#at = this.#end(end);
    }
    const slot = intake.seriesOfRaw(bytes, begin, this.#at);
    while (this.#at < end) {
      const tag = bytes[this.#at++]!;
      if (tag === 0x12) {
        this.#sample(slot, this.#end(end));
      } else if (tag === 0x1a) {
        this.#exemplar(slot, this.#end(end));
      } else if (tag === 0x22) {
        intake.reject('native histograms are not stored; send classic ones');
        this.#at = this.#end(end);
      } else if (tag === 0x0a) {
        // Labels after samples: allowed by protobuf, sent by nobody.
        throw corrupt();
      } else {
        this.#skip(tag, end);
      }
    }
  }

  #sample(slot: number, end: number): void {
    const bytes = this.#bytes;
    const view = this.#view;
    const { batch } = this.#intake;
    batch.reserve();
    batch.times[batch.count] = 0;
    batch.values[batch.count] = 0;
    let stale = false;
    while (this.#at < end) {
      const tag = bytes[this.#at++]!;
      if (tag === 0x09 && this.#at + 8 <= end) {
        const value = view.getFloat64(this.#at, true);
        // By its bits: a signalling NaN does not survive arithmetic.
        stale =
          value !== value &&
          view.getUint32(this.#at, true) === 2 &&
          view.getUint32(this.#at + 4, true) === 0x7ff0_0000;
        batch.values[batch.count] = value;
        this.#at += 8;
      } else if (tag === 0x10) {
        this.#integer(end);
        batch.times[batch.count] = this.#number[0]!;
      } else {
        this.#skip(tag, end);
      }
    }
    this.#intake.staged(slot, stale);
  }

  #exemplar(slot: number, end: number): void {
    const begin = this.#at;
    let [stop, value] = [begin, 0];
    this.#number[0] = 0;
    while (this.#at < end) {
      const tag = this.#bytes[this.#at++]!;
      if (tag === 0x0a) {
        this.#at = stop = this.#end(end);
      } else if (tag === 0x11 && this.#at + 8 <= end) {
        value = this.#view.getFloat64(this.#at, true);
        this.#at += 8;
      } else if (tag === 0x18) {
        this.#integer(end);
      } else {
        this.#skip(tag, end);
      }
    }
    const labels = readRawLabels(this.#bytes, begin, stop);
    if (labels !== undefined) {
      this.#intake.exemplar(slot, { labels: labelsOf(labels), time: this.#number[0], value });
    }
  }

  #readMetadata(end: number): void {
    let type = 0;
    const texts = { metric: '', help: '', unit: '' };
    while (this.#at < end) {
      const tag = this.#bytes[this.#at++]!;
      if (tag === 0x08) {
        this.#integer(end);
        type = this.#number[0]!;
      } else if (tag === 0x12 || tag === 0x22 || tag === 0x2a) {
        const stop = this.#end(end);
        texts[tag === 0x12 ? 'metric' : tag === 0x22 ? 'help' : 'unit'] = textDecoder.decode(
          this.#bytes.subarray(this.#at, stop),
        );
        this.#at = stop;
      } else {
        this.#skip(tag, end);
      }
    }
    this.#metadata.note(texts.metric, {
      type: metricTypes[type] ?? 'unknown',
      help: texts.help,
      unit: texts.unit,
    });
  }

  /** Returns the end of the length-delimited field at `at`. */
  #end(limit: number): number {
    const bytes = this.#bytes;
    let length = 0;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      if (this.#at >= limit) {
        break;
      }
      const byte = bytes[this.#at++]!;
      length += (byte & 127) * factor;
      if (byte < 128) {
        if (length > limit - this.#at) {
          break;
        }
        return this.#at + length;
      }
    }
    throw corrupt();
  }

  /** Reads a signed 64-bit varint into `number`; beyond 2^53 it is not exact, and is refused as a time anyway. */
  #integer(limit: number): void {
    const bytes = this.#bytes;
    let low = 0;
    let high = 0;
    let factor = 1;
    for (let place = 0; place < 10 && this.#at < limit; place++) {
      const byte = bytes[this.#at++]!;
      if (place < 4) {
        low |= (byte & 127) << (place * 7);
      } else {
        high += (byte & 127) * factor;
        factor *= 128;
      }
      if (byte < 128) {
        // Ten bytes are a negative number in two's complement: 2^64 less, and above bit 28 that is 2^36.
        this.#number[0] = (place === 9 ? high - 2 ** 36 : high) * 2 ** 28 + low;
        return;
      }
    }
    throw corrupt();
  }

  #skip(tag: number, limit: number): void {
    // A tag of more than one byte belongs to a field that is not known here.
    if (tag >= 128) {
      this.#at--;
      this.#integer(limit);
      this.#skipWire(this.#number[0]! % 8, limit);
    } else {
      this.#skipWire(tag & 7, limit);
    }
  }

  #skipWire(wire: number, limit: number): void {
    if (wire === 0) {
      this.#integer(limit);
    } else if (wire === 2) {
      this.#at = this.#end(limit);
    } else if (wire === 1 || wire === 5) {
      this.#at += wire === 1 ? 8 : 4;
      if (this.#at > limit) {
        throw corrupt();
      }
    } else {
      throw corrupt();
    }
  }
}

export const metricTypes = [
  'unknown',
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
] as const;
