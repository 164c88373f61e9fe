import { type Logger, messageOf } from 'svc/sdk';
import { MetricBatch, type WriteBody } from 'svc/probe';

import type { Canonical } from './canonical.ts';
import { collectors } from './collectors/index.ts';
import type { Collect } from './collectors/collector.ts';
import type { Moment } from './moment.ts';
import { type CollectorName, collectorNames, type HostSpec } from './spec.ts';

/** One measurement of the machine: every collector that the spec switches on; one that fails takes nothing from the others. */
export class Collection {
  readonly #spec: HostSpec;
  readonly #canonical: Canonical;
  readonly #log: Logger;
  /** The collectors that failed last time: a failure is told when it begins. */
  readonly #failing = new Set<string>();

  constructor(spec: HostSpec, canonical: Canonical, log: Logger) {
    this.#spec = spec;
    this.#canonical = canonical;
    this.#log = log;
  }

  async take(moment: Moment): Promise<readonly WriteBody[]> {
    const { job, instance, collectors: on } = this.#spec;
    const name = instance === '' ? (moment.files.text('/proc/sys/kernel/hostname', 4_096)?.trim() ?? '') : instance;
    const batch = new MetricBatch({ time: moment.time, labels: ['instance', name, 'job', job] });
    const adds = (collector: CollectorName): boolean => on[collector];
    for (const collector of collectorNames.filter(adds)) {
      await this.#run(collector, collectors[collector], moment, batch);
    }
    if (on.canonical) {
      await this.#run('canonical', (at, sink) => this.#canonical.collect(at, sink, adds), moment, batch);
    }
    return batch.finish();
  }

  async #run(name: string, collect: Collect, moment: Moment, batch: MetricBatch): Promise<void> {
    let success = 1;
    try {
      await collect(moment, batch);
      this.#failing.delete(name);
    } catch (error) {
      success = 0;
      if (!this.#failing.has(name)) {
        this.#failing.add(name);
        this.#log.warn({ collector: name, cause: messageOf(error) }, 'a part of this machine cannot be measured');
      }
    }
    batch.add('node_scrape_collector_success', success, ['collector', name]);
  }
}
