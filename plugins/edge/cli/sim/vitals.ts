import { MetricBatch, type WriteBody } from 'svc/probe';
import { timestamp } from 'svc/sdk';
import type { SimulatedHost } from './host.ts';
import type { FaultKind } from './options.ts';
import type { Random } from 'svc/seeded';

const dayMs = 86_400_000;
const page = 4_096;
const secondsAtMost = 600;

/**
 * Measurements of a simulated host: it works by day, its counters grow, and nothing of it is
 * smooth.
 */
export class Vitals {
  readonly #host: SimulatedHost;
  readonly #random: Random;
  /** Fault with its start. */
  readonly #fault: { readonly kind: FaultKind; readonly from: number } | undefined;
  /** Everything that only grows, by the names below. */
  readonly #grown = new Float64Array(counters.length);
  #at: number | undefined;
  #used = 0;
  #rates = { received: 0, sent: 0, disk: 0 };
  #load = [0, 0, 0] as [number, number, number];
  /** Returns the strain from 0 to 1: waiting requests hold their connections open. */
  readonly #strain: (now: number) => number;

  constructor(
    host: SimulatedHost,
    random: Random,
    {
      fault,
      strain = () => 0,
    }: {
      readonly fault?: { readonly kind: FaultKind; readonly from: number } | undefined;
      readonly strain?: (now: number) => number;
    } = {},
  ) {
    this.#host = host;
    this.#random = random;
    this.#fault = fault;
    this.#strain = strain;
  }

  /** One remote write: of all series, or of those alone that a snapshot has. */
  write(now: number, kind: 'snapshot' | 'full'): WriteBody {
    this.#advance(now);
    const { hostname } = this.#host;
    const batch = new MetricBatch({ time: now, labels: ['instance', hostname, 'job', 'node'] });
    if (kind === 'full') {
      this.#details(now, batch);
    }
    batch.add('node_filesystem_avail_bytes', this.#disk(now).avail, root);
    for (const [name, value] of Object.entries(this.#canonical(now))) {
      batch.add(name, value, labelsOf[name]);
    }
    return batch.finish()[0]!;
  }

  /** The answer of `host_snapshot`. */
  snapshot(now: number): object {
    this.#advance(now);
    return {
      sampled_at: timestamp(now),
      metrics: { ...this.#canonical(now), node_filesystem_avail_bytes: this.#disk(now).avail },
    };
  }

  /** The answer of `processes`: what runs here shares what is used. */
  processes(now: number, top: number, sortBy: 'cpu' | 'mem'): object {
    this.#advance(now);
    const { nature } = this.#host;
    const shares = programs.map((name, index) => ({
      name,
      cpu: (100 * this.#used * nature.cpus) / 2 ** (index + 1),
      mem: 30 / (index + 1),
    }));
    shares.sort((a, b) => b[sortBy] - a[sortBy]);
    const processes = shares.slice(0, top).map(({ name, cpu, mem }, index) => ({
      pid: 400 + 37 * index,
      ppid: 1,
      name,
      cmdline: `/usr/sbin/${name} --config /etc/${name}.conf`,
      user: 'root',
      state: 'S',
      cpu_percent: round(cpu, 1),
      mem_percent: round(mem, 1),
      rss_bytes: Math.floor((nature.memoryBytes * mem) / 100),
      started_at: timestamp(nature.bootedAt),
    }));
    return { sampled_at: timestamp(now), processes };
  }

  /** The answer of `process_history`: the same programs at each minute, each busy in its own rhythm. */
  processHistory(now: number, from: number, to: number): object {
    const { nature } = this.#host;
    const minutes = Array.from({ length: historyMinutes }, (_, ago) => now - ago * 60_000)
      .filter((at) => at >= from && at <= to)
      .toReversed();
    const processes = programs.map((name, index) => ({
      pid: 400 + 37 * index,
      name,
      user: 'root',
      started_at: nature.bootedAt,
      uses: minutes.map((at) => [
        at,
        round((100 / (index + 1)) * (0.5 + 0.4 * Math.sin(at / 600_000 + index)), 1),
        Math.floor(nature.memoryBytes / (4 * (index + 1))),
        1_000 * (index + 1),
      ]),
    }));
    return { processes };
  }

  #details(now: number, batch: MetricBatch): void {
    const { cpus, diskBytes } = this.#host.nature;
    counters.forEach(({ name, labels }, index) =>
      batch.add(name, round(this.#grown[index]!, 2), labels),
    );
    for (const [name, value] of Object.entries(this.#memory())) {
      batch.add(`node_memory_${name}_bytes`, value);
    }
    batch.add('node_filesystem_size_bytes', diskBytes, root);
    batch.add('node_filesystem_free_bytes', this.#disk(now).free, root);
    batch.add('node_time_seconds', now / 1_000);
    batch.add('node_procs_running', 1 + Math.floor(this.#used * cpus * 2));
  }

  #advance(now: number): void {
    const { nature } = this.#host;
    const random = this.#random;
    if (this.#at !== undefined && now <= this.#at) {
      return;
    }
    // The first time: as much as if it had been so since it was started.
    const first = this.#at === undefined;
    const seconds = first
      ? (now - nature.bootedAt) / 1_000
      : Math.min((now - this.#at!) / 1_000, secondsAtMost);
    this.#at = now;
    const wave = 1 + nature.swing * Math.sin(2 * Math.PI * (now / dayMs - nature.dawn));
    const usual = clamp(nature.busy * wave * (0.7 + 0.6 * random()), 0.005, 0.98);
    this.#used = this.#isWrong('cpu') ? 0.97 + 0.02 * random() : usual;
    const spread = first ? 0.3 : 0.05;
    this.#load = this.#load.map(
      (load, i) =>
        (first ? 1 : 1 - weights[i]!) * load +
        (first ? 1 : weights[i]!) * this.#used * nature.cpus * (1 + spread * random()),
    ) as [number, number, number];
    const traffic = this.#used * nature.cpus * 400_000 * (0.5 + random());
    this.#rates = {
      received: traffic,
      sent: traffic * (0.5 + random()),
      disk: this.#isWrong('io') ? 97 + 3 * random() : this.#used * 50 * random(),
    };
    const used = this.#used;
    const perCpu = seconds / 2;
    const rates = [
      perCpu * (1 - used),
      perCpu * used * 0.65,
      perCpu * used * 0.28,
      perCpu * used * 0.07,
    ];
    const others = [
      ...[seconds * traffic * 0.3, seconds * traffic * 0.6, (seconds * this.#rates.disk) / 100],
      ...[
        seconds * this.#rates.received,
        seconds * this.#rates.sent,
        (seconds * this.#rates.received) / 900,
        (seconds * this.#rates.sent) / 1_100,
      ],
      seconds * (2_000 + 40_000 * used),
    ];
    [...rates, ...rates, ...others].forEach(
      (growth, index) =>
        (this.#grown[index]! += counters[index]!.whole ? Math.floor(growth) : growth),
    );
  }

  #isWrong(kind: FaultKind): boolean {
    return this.#fault?.kind === kind && (this.#at ?? 0) >= this.#fault.from;
  }

  #memory(): Readonly<Record<string, number>> {
    const { memoryBytes, busy } = this.#host.nature;
    const share = this.#isWrong('memory') ? 0.02 : 0.75 - 0.5 * busy - 0.1 * this.#used;
    const available = Math.floor((memoryBytes * share) / page) * page;
    const cached = Math.floor((available * 0.6) / page) * page;
    return {
      MemTotal: memoryBytes,
      MemAvailable: available,
      MemFree: available - cached,
      Cached: cached,
      Buffers: Math.floor((memoryBytes * 0.01) / page) * page,
      SwapTotal: 0,
      SwapFree: 0,
    };
  }

  /** Fills by day and is cleaned by night, so that it does not run full. */
  #disk(now: number): { free: number; avail: number } {
    const { diskBytes, busy, dawn } = this.#host.nature;
    const full = this.#isWrong('disk')
      ? 0.93
      : 0.3 + 0.5 * busy + 0.05 * ((now / dayMs + dawn) % 1);
    const free = Math.floor((diskBytes * (1 - full)) / page) * page;
    return { free, avail: Math.max(0, free - Math.floor((diskBytes * 0.05) / page) * page) };
  }

  /** The closed set that alert rules and the page of a host go by. */
  #canonical(now: number): Readonly<Record<string, number>> {
    const { MemTotal, MemAvailable } = this.#memory() as { MemTotal: number; MemAvailable: number };
    const { diskBytes, bootedAt } = this.#host.nature;
    const { free, avail } = this.#disk(now);
    return {
      node_cpu_usage_percent: round(100 * this.#used, 2),
      node_memory_used_percent: round(100 * (1 - MemAvailable / MemTotal), 2),
      node_filesystem_used_percent: round(
        (100 * (diskBytes - free)) / (diskBytes - free + avail),
        2,
      ),
      node_load1: round(this.#load[0], 2),
      node_load5: round(this.#load[1], 2),
      node_load15: round(this.#load[2], 2),
      node_network_receive_bytes_per_second: Math.round(this.#rates.received),
      node_network_transmit_bytes_per_second: Math.round(this.#rates.sent),
      node_disk_io_utilization_percent: round(this.#rates.disk, 2),
      node_swap_used_percent: 0,
      node_open_fds_percent: round(0.5 + 2 * this.#used + 60 * this.#strain(now), 2),
      node_uptime_seconds: Math.floor((now - bootedAt) / 1_000),
    };
  }
}

const weights = [0.22, 0.05, 0.017];
const root = ['device', '/dev/vda1', 'fstype', 'ext4', 'mountpoint', '/'];
/** Minutes that an agent remembers of its processes. */
const historyMinutes = 360;

const programs = [
  'nginx',
  'postgres',
  'java',
  'node',
  'containerd',
  'systemd-journald',
  'sshd',
  'cron',
];
const modes = ['idle', 'user', 'system', 'iowait'];

const counters: readonly {
  readonly name: string;
  readonly labels: readonly string[];
  readonly whole?: boolean;
}[] = [
  ...['0', '1'].flatMap((cpu) =>
    modes.map((mode) => ({ name: 'node_cpu_seconds_total', labels: ['cpu', cpu, 'mode', mode] })),
  ),
  { name: 'node_disk_read_bytes_total', labels: ['device', 'vda'], whole: true },
  { name: 'node_disk_written_bytes_total', labels: ['device', 'vda'], whole: true },
  { name: 'node_disk_io_time_seconds_total', labels: ['device', 'vda'] },
  ...['receive_bytes', 'transmit_bytes', 'receive_packets', 'transmit_packets'].map((what) => ({
    name: `node_network_${what}_total`,
    labels: ['device', 'eth0'],
    whole: true,
  })),
  { name: 'node_context_switches_total', labels: [], whole: true },
];

const labelsOf: Readonly<Record<string, readonly string[]>> = {
  node_filesystem_used_percent: root,
  node_network_receive_bytes_per_second: ['device', 'eth0'],
  node_network_transmit_bytes_per_second: ['device', 'eth0'],
  node_disk_io_utilization_percent: ['device', 'vda'],
};

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, value));
const round = (value: number, places: number): number =>
  Math.round(value * 10 ** places) / 10 ** places;
