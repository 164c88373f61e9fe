import { MetricBatch, type WriteBody } from 'svc/probe';
import { type Logger, messageOf } from 'svc/sdk';

import { type ScrapedSample, scrapedSamples } from './scraped-samples.ts';
import { type Answer, ask, type TargetPorts } from './target.ts';
import type { TargetSpec } from './target-spec.ts';

/** One endpoint that serves Prometheus metrics: all of its samples or none, and always whether it was up. */
export class Scraper {
  readonly #target: TargetSpec;
  readonly #ports: TargetPorts;
  readonly #log: Logger;
  readonly #labels: readonly string[];
  #up: boolean | undefined;
  #trouble: string | undefined;

  constructor(target: TargetSpec, ports: TargetPorts, log: Logger) {
    this.#target = target;
    this.#ports = ports;
    this.#log = log;
    // Last comes what no sample may replace.
    const own = new Map([
      ...Object.entries(target.labels),
      ['job', target.job],
      ['instance', instanceOf(target.url)],
    ] as [string, string][]);
    this.#labels = [...own].flat();
  }

  /** Why the last scrape failed. */
  get trouble(): string | undefined {
    return this.#trouble === undefined ? undefined : `${this.#target.job}: ${this.#trouble}`;
  }

  async scrape(signal: AbortSignal): Promise<readonly WriteBody[]> {
    const { clock } = this.#ports;
    const time = clock.now();
    const start = clock.monotonic();
    let samples: readonly ScrapedSample[] = [];
    try {
      samples = this.#read(await ask(this.#target, this.#ports, signal));
      this.#note(true);
    } catch (error) {
      this.#note(false, messageOf(error));
    }
    const batch = new MetricBatch({ time, labels: this.#labels });
    for (const { name, labels, value, time: at } of samples) {
      batch.add(name, value, this.#renamed(labels), at);
    }
    batch.add('up', this.#up ? 1 : 0);
    batch.add('scrape_duration_seconds', (clock.monotonic() - start) / 1000);
    batch.add('scrape_samples_scraped', samples.length);
    return batch.finish();
  }

  /** Whole before anything of it counts: a line that is wrong refuses all of them. */
  #read({ text, openMetrics }: Answer): readonly ScrapedSample[] {
    return scrapedSamples(text, { maxSeries: this.#target.max_series, openMetrics });
  }

  /** Renames labels of the target that clash with ours to `exported_*`. */
  #renamed(labels: readonly string[]): readonly string[] {
    const taken = (name: string): boolean =>
      name === '__name__' || this.#labels.some((own, i) => i % 2 === 0 && own === name);
    return labels.some((name, i) => i % 2 === 0 && taken(name))
      ? labels.map((word, i) => (i % 2 === 0 && taken(word) ? `exported_${word}` : word))
      : labels;
  }

  #note(up: boolean, cause?: string): void {
    if (up !== this.#up) {
      const { job, url } = this.#target;
      if (up) {
        this.#log.info({ job, url }, 'scrape target recovered');
      } else {
        this.#log.warn(
          { event: 'hostmetrics.scrape_failed', job, url, cause },
          'failed to scrape a target; retrying at the next interval',
        );
      }
    }
    this.#up = up;
    this.#trouble = cause;
  }
}

const instanceOf = (url: string): string => /^https?:\/\/([^/?#]+)/.exec(url)?.[1] ?? url;
