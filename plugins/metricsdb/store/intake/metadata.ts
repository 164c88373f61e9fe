import type { Catalogue } from 'svc/store';

export interface MetricMetadata {
  readonly type: string;
  readonly help: string;
  readonly unit: string;
}

export interface MetadataSink {
  note(metric: string, metadata: MetricMetadata): void;
}

const maxMetrics = 50_000;
const longestHelp = 1_024;

/**
 * Metadata that senders report about their metrics; the latest report wins. Written to the
 * catalogue by `save`.
 */
export class Metadata implements MetadataSink {
  readonly #db: Catalogue['db'];
  readonly #metrics = new Map<string, MetricMetadata>();
  readonly #changed = new Set<string>();

  constructor(db: Catalogue['db']) {
    this.#db = db;
    for (const { metric, ...metadata } of db
      .prepare('select * from metadata')
      .all() as (MetricMetadata & { metric: string })[]) {
      this.#metrics.set(metric, metadata);
    }
  }

  note(metric: string, { type, help, unit }: MetricMetadata): void {
    const known = this.#metrics.get(metric);
    if (
      metric === '' ||
      metric.length > longestHelp ||
      (known === undefined && this.#metrics.size >= maxMetrics)
    ) {
      return;
    }
    const next = { type, help: help.slice(0, longestHelp), unit: unit.slice(0, longestHelp) };
    if (known?.type !== next.type || known.help !== next.help || known.unit !== next.unit) {
      this.#metrics.set(metric, next);
      this.#changed.add(metric);
    }
  }

  /** Lists metadata by name: that of one metric, or the first `limit`. */
  list(
    options: { readonly metric?: string; readonly limit?: number } = {},
  ): (MetricMetadata & { readonly metric: string })[] {
    const names =
      options.metric === undefined
        ? [...this.#metrics.keys()].sort().slice(0, options.limit)
        : [options.metric];
    return names.flatMap((metric) => {
      const known = this.#metrics.get(metric);
      return known === undefined ? [] : [{ metric, ...known }];
    });
  }

  save(): void {
    if (this.#changed.size === 0) {
      return;
    }
    const put = this.#db.prepare(
      'insert or replace into metadata (metric, type, help, unit) values (@metric, @type, @help, @unit)',
    );
    this.#db.transaction(() => {
      for (const metric of this.#changed) {
        put.run({ metric, ...this.#metrics.get(metric)! });
      }
    })();
    this.#changed.clear();
  }
}
