import { MetricBatch, type WriteBody } from 'svc/probe';
import { type Logger, messageOf } from 'svc/sdk';

import type { Canonical } from './canonical.ts';
import type { Collect } from './collectors/collector.ts';
import { diskstats, filesystem } from './collectors/disk.ts';
import { cgroup, meminfo, vmstat } from './collectors/memory.ts';
import { arp, netclass, netdev, softnet } from './collectors/network.ts';
import { cpu, loadavg, pressure, stat } from './collectors/processor.ts';
import { conntrack, netstat, sockstat } from './collectors/protocol.ts';
import { entropy, filefd, os, time, uname } from './collectors/system.ts';
import type { Moment } from './moment/moment.ts';
import { type CollectorName, collectorNames, type HostSpec } from './spec.ts';

/** Everything that can be measured, by the name under which the spec switches it. */
const collectors: Readonly<Record<CollectorName, Collect>> = {
  arp,
  cgroup,
  conntrack,
  cpu,
  diskstats,
  entropy,
  filefd,
  filesystem,
  loadavg,
  meminfo,
  netclass,
  netdev,
  netstat,
  os,
  pressure,
  sockstat,
  softnet,
  stat,
  time,
  uname,
  vmstat,
};

/** One measurement of the machine: every collector that the spec switches on; one that fails takes nothing from the others. */
export class Collection {
  readonly #spec: HostSpec;
  readonly #canonical: Canonical;
  readonly #log: Logger;
  /** The collectors that failed last time: a failure is logged when it begins. */
  readonly #failing = new Set<string>();

  constructor(spec: HostSpec, canonical: Canonical, log: Logger) {
    this.#spec = spec;
    this.#canonical = canonical;
    this.#log = log;
  }

  async take(moment: Moment): Promise<readonly WriteBody[]> {
    const { job, instance, collectors: on } = this.#spec;
    const name =
      instance === ''
        ? (moment.files.text('/proc/sys/kernel/hostname', 4_096)?.trim() ?? '')
        : instance;
    const batch = new MetricBatch({ time: moment.time, labels: ['instance', name, 'job', job] });
    const adds = (collector: CollectorName): boolean => on[collector];
    for (const collector of collectorNames.filter(adds)) {
      await this.#run(collector, collectors[collector], moment, batch);
    }
    if (on.canonical) {
      await this.#run(
        'canonical',
        (at, sink) => this.#canonical.collect(at, sink, adds),
        moment,
        batch,
      );
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
        this.#log.warn(
          { event: 'hostmetrics.collector_failed', collector: name, cause: messageOf(error) },
          'collector failed; its metrics are missing until it recovers',
        );
      }
    }
    batch.add('node_scrape_collector_success', success, ['collector', name]);
  }
}
