import { ByteWriter } from 'svc/store';

import type { MetricRow } from './store/span-metrics.ts';
import type { SpanMetricsBody } from './thread-contract.ts';

/** Samples in one body: what receivers take without a complaint. */
const rowsPerBody = 10_000;

const tags = { series: 0x0a, label: 0x0a, name: 0x0a, text: 0x12, sample: 0x12, value: 0x09, time: 0x10 } as const;

/**
 * Puts samples into bodies of Prometheus remote write: bytes pass the thread of requests without a look, where as many objects
 * would hold it up for a tenth of a second. The labels of a series are written once and kept for as long as it has them.
 */
export class SpanMetricsWriter {
  readonly #written = new WeakMap<MetricRow['labels'], Uint8Array>();
  readonly #out = new ByteWriter();
  readonly #part = new ByteWriter();
  readonly #sample = new ByteWriter();

  bodies(rows: readonly MetricRow[]): SpanMetricsBody[] {
    const count = Math.ceil(rows.length / rowsPerBody);
    return Array.from({ length: count }, (_, at) => this.#body(rows.slice(at * rowsPerBody, (at + 1) * rowsPerBody)));
  }

  #body(rows: readonly MetricRow[]): SpanMetricsBody {
    const [out, part, sample] = [this.#out, this.#part, this.#sample];
    const series = rows.map(({ labels }) => this.#labels(labels));
    out.reset();
    for (const [at, { time, value }] of rows.entries()) {
      sample.reset();
      sample.u8(tags.value);
      sample.f64le(value);
      sample.u8(tags.time);
      sample.uvarint(Math.floor(time));
      part.reset();
      part.bytes(series[at]!);
      part.u8(tags.sample);
      part.block(sample.take());
      out.u8(tags.series);
      out.block(part.take());
    }
    return { body: out.take().slice(), rows: rows.length };
  }

  #labels(labels: MetricRow['labels']): Uint8Array {
    let written = this.#written.get(labels);
    if (written === undefined) {
      const [out, part] = [this.#out, this.#part];
      out.reset();
      for (const [name, text] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
        part.reset();
        part.u8(tags.name);
        part.utf8(name);
        part.u8(tags.text);
        part.utf8(text);
        out.u8(tags.label);
        out.block(part.take());
      }
      written = out.take().slice();
      this.#written.set(labels, written);
    }
    return written;
  }
}
