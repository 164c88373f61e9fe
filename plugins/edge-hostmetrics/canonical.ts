import type { MetricSink } from 'svc/probe';

import { type Filesystem, usedOf } from './moment/filesystems.ts';
import type { Moment } from './moment/moment.ts';
import { busyMs, growth, receivedBytes, sentBytes } from './proc/devices.ts';
import { available, usedPercent } from './proc/memory.ts';
import { busyPercent, type CpuTimes } from './proc/stat.ts';
import type { CollectorName } from './spec.ts';

/** Counters from which percentages and rates are computed. */
interface Reading {
  readonly monotonic: number;
  readonly cpus: ReadonlyMap<string, CpuTimes>;
  /** Milliseconds for which each disk was busy. */
  readonly disks: ReadonlyMap<string, number>;
  readonly network: ReadonlyMap<string, { readonly received: number; readonly sent: number }>;
}

/** `null`: not known on this machine, or not yet. */
export type Snapshot = Readonly<Record<string, number | null>>;

interface DeviceRate {
  readonly device: string;
  readonly value: number;
}

interface FilesystemShare {
  readonly filesystem: Filesystem;
  readonly used: number;
}

/** The canonical values of one moment, from its readings and those of an earlier one. */
interface Values {
  readonly plain: ReadonlyMap<string, number | undefined>;
  readonly received: readonly DeviceRate[];
  readonly sent: readonly DeviceRate[];
  readonly disks: readonly DeviceRate[];
  readonly filesystems: readonly FilesystemShare[];
}

/** Below this two readings are too near for a rate: the kernel counts CPU time in hundredths of a second. */
const nearestMs = 500;

/**
 * The closed set of percentages and rates that alert rules, dashboards and the snapshot of a machine go by. What needs two readings
 * is absent in the first, never zero. Loopback and virtual devices do not count towards the traffic of a machine that has others.
 */
export class Canonical {
  #earlier: Reading | undefined;
  #latest: Reading | undefined;
  readonly #virtual = new Map<string, boolean>();

  /**
   * Measures the change since the last call, and adds the results, except those that another
   * collector `adds` already.
   */
  async collect(
    moment: Moment,
    sink: MetricSink,
    adds: (collector: CollectorName) => boolean,
  ): Promise<void> {
    const reading = this.#read(moment);
    const { plain, received, sent, disks, filesystems } = await valuesOf(
      moment,
      reading,
      this.#latest,
    );
    this.#earlier = this.#latest;
    this.#latest = reading;
    for (const [name, value] of plain) {
      if (value !== undefined && !(name.startsWith('node_load') && adds('loadavg'))) {
        sink.add(name, value);
      }
    }
    for (const [name, rates] of [
      ['node_network_receive_bytes_per_second', received],
      ['node_network_transmit_bytes_per_second', sent],
      ['node_disk_io_utilization_percent', disks],
    ] as const) {
      rates.forEach(({ device, value }) => sink.add(name, value, ['device', device]));
    }
    for (const { filesystem, used } of filesystems) {
      const labels = [
        'device',
        filesystem.device,
        'fstype',
        filesystem.fstype,
        'mountpoint',
        filesystem.mountpoint,
      ];
      sink.add('node_filesystem_used_percent', used, labels);
      if (!adds('filesystem')) {
        sink.add('node_filesystem_avail_bytes', availOf(filesystem)!, labels);
      }
    }
  }

  /** The machine in thirteen numbers: traffic of all devices, the busiest disk, the fullest file system that can be written to. */
  async snapshot(moment: Moment): Promise<Snapshot> {
    const reading = this.#read(moment);
    const near =
      this.#latest !== undefined && reading.monotonic - this.#latest.monotonic < nearestMs;
    const { plain, received, sent, disks, filesystems } = await valuesOf(
      moment,
      reading,
      near ? this.#earlier : this.#latest,
    );
    const fullest = filesystems
      .filter(({ filesystem }) => !filesystem.readonly)
      .reduce<FilesystemShare | undefined>(
        (most, share) => (most === undefined || share.used > most.used ? share : most),
        undefined,
      );
    const values: readonly (readonly [string, number | undefined])[] = [
      ...plain,
      ['node_filesystem_used_percent', fullest?.used],
      ['node_filesystem_avail_bytes', fullest && availOf(fullest.filesystem)],
      ['node_network_receive_bytes_per_second', sum(received)],
      ['node_network_transmit_bytes_per_second', sum(sent)],
      [
        'node_disk_io_utilization_percent',
        disks.length === 0 ? undefined : Math.max(...disks.map(({ value }) => value)),
      ],
    ];
    return Object.fromEntries(values.map(([name, value]) => [name, value ?? null]));
  }

  #read(moment: Moment): Reading {
    const rows = moment.network().filter(({ device }) => device !== 'lo');
    const real = rows.filter(({ device }) => !this.#isVirtual(moment, device));
    return {
      monotonic: moment.monotonic,
      cpus: moment.cpus(),
      disks: new Map(moment.disks().map(({ device, values }) => [device, values[busyMs]!])),
      network: new Map(
        (real.length > 0 ? real : rows).map(({ device, values }) => [
          device,
          { received: values[receivedBytes]!, sent: values[sentBytes]! },
        ]),
      ),
    };
  }

  /** Bridges, tunnels and bonds carry what a real device carries as well. */
  #isVirtual({ files }: Moment, device: string): boolean {
    let virtual = this.#virtual.get(device);
    if (virtual === undefined) {
      virtual = files.link(`/sys/class/net/${device}`)?.includes('/virtual/') ?? false;
      if (this.#virtual.size >= 1_024) {
        this.#virtual.clear();
      }
      this.#virtual.set(device, virtual);
    }
    return virtual;
  }
}

async function valuesOf(
  moment: Moment,
  now: Reading,
  before: Reading | undefined,
): Promise<Values> {
  const memory = moment.memory();
  const handles = moment.fileHandles();
  const [load1, load5, load15] = moment.load();
  const swap = memory.get('SwapTotal_bytes');
  const plain = new Map<string, number | undefined>([
    ['node_cpu_usage_percent', before && busyPercent(before.cpus, now.cpus)],
    ['node_memory_used_percent', usedPercent(memory.get('MemTotal_bytes'), available(memory))],
    // Without any swap the usage is zero.
    ['node_swap_used_percent', swap === 0 ? 0 : usedPercent(swap, memory.get('SwapFree_bytes'))],
    [
      'node_open_fds_percent',
      handles && handles.maximum > 0
        ? Math.min(100, (100 * handles.allocated) / handles.maximum)
        : undefined,
    ],
    ['node_uptime_seconds', moment.files.number('/proc/uptime')],
    ['node_load1', load1],
    ['node_load5', load5],
    ['node_load15', load15],
  ]);
  const seconds = before === undefined ? 0 : (now.monotonic - before.monotonic) / 1000;
  const rates = <T>(
    were: ReadonlyMap<string, T> | undefined,
    are: ReadonlyMap<string, T>,
    grown: (was: T, is: T) => number,
  ): DeviceRate[] =>
    seconds <= 0 || were === undefined
      ? []
      : [...are].flatMap(([device, is]) => {
          const was = were.get(device);
          return was === undefined ? [] : [{ device, value: grown(was, is) / seconds }];
        });
  return {
    plain,
    received: rates(before?.network, now.network, (was, is) => growth(was.received, is.received)),
    sent: rates(before?.network, now.network, (was, is) => growth(was.sent, is.sent)),
    disks: rates(before?.disks, now.disks, (was, is) => growth(was, is)).map(
      ({ device, value }) => ({ device, value: Math.min(100, value / 10) }),
    ),
    filesystems: (await moment.filesystems()).flatMap((filesystem) => {
      const used = filesystem.numbers && usedOf(filesystem.numbers);
      return used === undefined ? [] : [{ filesystem, used }];
    }),
  };
}

const availOf = ({ numbers }: Filesystem): number | undefined =>
  numbers && numbers.bavail * numbers.bsize;

const sum = (rates: readonly DeviceRate[]): number | undefined =>
  rates.length === 0 ? undefined : rates.reduce((total, { value }) => total + value, 0);
