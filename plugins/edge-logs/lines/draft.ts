import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { type Instant, nanosText } from './line-times.ts';

/** Lines of one origin; equal keys are one stream. */
export interface Stream {
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
}

export const streamOf = (labels: Readonly<Record<string, string>>): Stream => ({
  key: JSON.stringify(Object.entries(labels)),
  labels,
});

export type Metadata = Readonly<Record<string, string>>;

type Value =
  | readonly [nanos: string, line: string]
  | readonly [nanos: string, line: string, metadata: Metadata];

const maxBytes = 512 * 1024;
const maxLines = 8_192;

const pack = promisify(gzip);

/** Draft of a push: lines by stream, in the order in which they were read. */
export class Draft {
  readonly #streams = new Map<string, { readonly stream: Metadata; readonly values: Value[] }>();
  #lines = 0;
  #bytes = 0;

  get lines(): number {
    return this.#lines;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    return this.#bytes >= maxBytes || this.#lines >= maxLines;
  }

  add({ key, labels }: Stream, at: Instant, line: string, metadata?: Metadata): void {
    let held = this.#streams.get(key);
    if (held === undefined) {
      held = { stream: labels, values: [] };
      this.#streams.set(key, held);
    }
    held.values.push(
      metadata === undefined ? [nanosText(at), line] : [nanosText(at), line, metadata],
    );
    this.#lines += 1;
    this.#bytes += line.length;
  }

  /**
   * Encodes the push as Loki's JSON, with gzip: a tenth of the cost of protobuf and snappy in this
   * language, and smaller.
   */
  async body(): Promise<Uint8Array> {
    return await pack(JSON.stringify({ streams: [...this.#streams.values()] }), { level: 1 });
  }
}
