import { memoryOf, ProtoWriter } from 'svc/store';
import type { ThreadSetup } from 'svc/thread';

import type { MetricRow } from './store/intake/span-metrics.ts';
import type { SpanMetricsBody } from './thread/contract.ts';

/** Samples in one body: what receivers take without a complaint. */
const rowsPerBody = 10_000;

/**
 * Puts samples into bodies of Prometheus remote write: bytes pass the thread of requests without a look, where as many objects
 * would hold it up for a tenth of a second. The labels of a series are written once and kept for as long as it has them.
 */
export class SpanMetricsWriter {
  readonly #request = new ProtoWriter();
  readonly #labels = new WeakMap<MetricRow['labels'], Uint8Array>();

  bodies(rows: readonly MetricRow[]): SpanMetricsBody[] {
    const count = Math.ceil(rows.length / rowsPerBody);
    return Array.from({ length: count }, (_, at) =>
      this.#body(rows.slice(at * rowsPerBody, (at + 1) * rowsPerBody)),
    );
  }

  #body(rows: readonly MetricRow[]): SpanMetricsBody {
    const request = this.#request.reset();
    for (const { labels, time, value } of rows) {
      request.message(1, (series) =>
        series
          .fields(this.#labelFields(labels))
          .message(2, (sample) => sample.double(1, value).uint(2, Math.floor(time))),
      );
    }
    // A copy of its own size: it is sent to another thread.
    return { body: request.finish().slice(), rows: rows.length };
  }

  #labelFields(labels: MetricRow['labels']): Uint8Array {
    const known = this.#labels.get(labels);
    if (known !== undefined) {
      return known;
    }
    const writer = new ProtoWriter();
    for (const [name, text] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
      writer.message(1, (label) => label.string(1, name).string(2, text));
    }
    const written = writer.finish().slice();
    this.#labels.set(labels, written);
    return written;
  }
}

const everyMs = 15_000;

/** Sends what the store counts of spans out of the thread, every so often. */
export class SpanMetricsNotices {
  readonly #writer = new SpanMetricsWriter();
  readonly #rows: () => readonly MetricRow[];
  readonly #setup: Pick<ThreadSetup, 'notify' | 'now'>;
  #sentAt: number;

  constructor(rows: () => readonly MetricRow[], setup: Pick<ThreadSetup, 'notify' | 'now'>) {
    this.#rows = rows;
    this.#setup = setup;
    this.#sentAt = setup.now();
  }

  send({ atOnce }: { readonly atOnce: boolean }): void {
    const now = this.#setup.now();
    if (!atOnce && now - this.#sentAt < everyMs) {
      return;
    }
    this.#sentAt = now;
    const bodies = this.#writer.bodies(this.#rows());
    if (bodies.length > 0) {
      this.#setup.notify(
        'span-metrics',
        bodies,
        bodies.flatMap(({ body }) => memoryOf(body)),
      );
    }
  }
}
