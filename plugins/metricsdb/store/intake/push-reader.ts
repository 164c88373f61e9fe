import { gunzip, reusableBuffer, snappyDecode } from 'svc/store';

import { errors } from './errors.ts';
import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { readOtlpJson } from './otlp-json.ts';
import { readOtlpProto } from './otlp-proto.ts';
import { readRemoteWrite2 } from './remote-write-2.ts';
import { readRemoteWrite } from './remote-write.ts';
import { readTextPush } from './text-push.ts';

export type PushFormat =
  | 'remote-write'
  | 'remote-write-2'
  | 'otlp-proto'
  | 'otlp-json'
  | 'exposition'
  | 'openmetrics';

/** Past this the memory of unpacked bodies is given back. */
const maxKept = 8 * 1_048_576;

/** Unpacks bodies and reads them, each format by its own reader, into an intake. */
export class PushReader {
  readonly #maxBytes: number;
  readonly #unpacked = reusableBuffer();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  read(
    format: PushFormat,
    body: Uint8Array,
    encoding: string | undefined,
    now: number,
    intake: Intake,
    metadata: MetadataSink,
  ): void {
    const bytes = this.#unpack(body, encoding);
    try {
      this.#decode(format, bytes, now, intake, metadata);
    } finally {
      if (this.#unpacked.bytes.length > maxKept) {
        this.#unpacked.bytes = new Uint8Array(0);
      }
    }
  }

  #decode(
    format: PushFormat,
    bytes: Uint8Array,
    now: number,
    intake: Intake,
    metadata: MetadataSink,
  ): void {
    switch (format) {
      case 'remote-write':
        return readRemoteWrite(bytes, intake, metadata);
      case 'remote-write-2':
        return readRemoteWrite2(bytes, intake, metadata);
      case 'otlp-proto':
        return readOtlpProto(bytes, intake, metadata);
      case 'otlp-json':
        return readOtlpJson(bytes, intake, metadata);
      case 'exposition':
      case 'openmetrics':
        return readTextPush(
          bytes,
          { now, openMetrics: format === 'openmetrics' },
          intake,
          metadata,
        );
    }
  }

  #unpack(body: Uint8Array, encoding: string | undefined): Uint8Array {
    switch (encoding?.toLowerCase() ?? '') {
      case '':
      case 'identity':
        return body;
      case 'snappy':
        // Plain, not a Buffer: views into it are cheaper.
        return snappyDecode(
          new Uint8Array(body.buffer, body.byteOffset, body.length),
          { maxBytes: this.#maxBytes },
          this.#unpacked,
        );
      case 'gzip':
        return gunzip(body, { maxBytes: this.#maxBytes });
      default:
        throw errors.encoding({ encoding: encoding!.slice(0, 40) });
    }
  }
}
