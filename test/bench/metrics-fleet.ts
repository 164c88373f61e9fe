import { ProtoWriter, snappyEncode } from 'svc/store';

/** Behaviour of one series of a host from scrape to scrape. */
export type Behaviour = (state: number, random: () => number) => number;

export interface Kind {
  readonly name: string;
  /** Label sets of the metric on one host. */
  readonly labels: readonly (readonly (readonly [string, string])[])[];
  start(random: () => number): number;
  readonly next: readonly Behaviour[];
}

export const same: Behaviour = (value) => value;
const round = (value: number, places: number): number =>
  Math.round(value * 10 ** places) / 10 ** places;
export const counter =
  (chance: number, most: number, places = 0): Behaviour =>
  (value, random) =>
    random() < chance ? round(value + random() * most, places) : value;
export const walk =
  (chance: number, step: number, unit: number): Behaviour =>
  (value, random) =>
    random() < chance ? Math.max(0, value + Math.round((random() - 0.5) * step) * unit) : value;
export const noise =
  (scale: number, places: number): Behaviour =>
  (_value, random) =>
    round(random() * scale, places);

export const each = (name: string, values: readonly string[]): (readonly [string, string])[][] =>
  values.map((value) => [[name, value] as const]);
export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

const cpuModes = ['idle', 'iowait', 'irq', 'nice', 'softirq', 'steal', 'system', 'user'];
const memory = [
  'MemTotal',
  'MemFree',
  'MemAvailable',
  'Buffers',
  'Cached',
  'SwapCached',
  'Active',
  'Inactive',
  'Dirty',
  'Writeback',
  'AnonPages',
  'Mapped',
  'Slab',
  'PageTables',
  'Committed_AS',
  'VmallocUsed',
];
const still = [
  'SwapTotal',
  'SwapFree',
  'HugePages_Total',
  'HugePages_Free',
  'Hugepagesize',
  'CommitLimit',
  'VmallocTotal',
  'HardwareCorrupted',
  'NFS_Unstable',
  'Bounce',
  'WritebackTmp',
  'Unevictable',
  'Mlocked',
  'AnonHugePages',
];

/** About what node_exporter tells of a small virtual machine: two thirds of it never change, some is noise. */
const kinds: readonly Kind[] = [
  {
    name: 'node_cpu_seconds_total',
    labels: numbered('', 4).flatMap((cpu) =>
      cpuModes.map((mode) => [['cpu', cpu] as const, ['mode', mode] as const]),
    ),
    start: (random) => round(random() * 1e6, 2),
    next: [
      counter(1, 15, 2),
      counter(0.3, 0.05, 2),
      same,
      same,
      counter(0.3, 0.03, 2),
      counter(0.1, 0.02, 2),
      counter(0.8, 0.3, 2),
      counter(0.9, 0.8, 2),
    ],
  },
  ...memory.map((name, i): Kind => ({
    name: `node_memory_${name}_bytes`,
    labels: [[]],
    start: (random) => Math.round(random() * 4e6) * 4_096,
    next: [i === 0 ? same : walk(0.6, 400, 4_096)],
  })),
  ...still.map((name): Kind => ({
    name: `node_memory_${name}_bytes`,
    labels: [[]],
    start: (random) => Math.round(random() * 1e5) * 4_096,
    next: [same],
  })),
  ...['receive_bytes', 'transmit_bytes', 'receive_packets', 'transmit_packets'].map(
    (name): Kind => ({
      name: `node_network_${name}_total`,
      labels: each('device', ['lo', 'eth0', 'docker0']),
      start: (random) => Math.round(random() * 1e10),
      next: [counter(0.5, 2_000), counter(1, 90_000), same],
    }),
  ),
  ...[
    'receive_errs',
    'transmit_errs',
    'receive_drop',
    'transmit_drop',
    'receive_fifo',
    'transmit_colls',
    'receive_frame',
    'receive_multicast',
    'transmit_queue_length',
    'mtu_bytes',
  ].map((name): Kind => ({
    name: `node_network_${name}`,
    labels: each('device', ['lo', 'eth0', 'docker0']),
    start: (random) => Math.round(random() * 100),
    next: [same],
  })),
  ...[
    'reads_completed',
    'writes_completed',
    'read_bytes',
    'written_bytes',
    'reads_merged',
    'writes_merged',
    'io_now',
  ].map((name): Kind => ({
    name: `node_disk_${name}_total`,
    labels: each('device', ['vda', 'vdb', 'sr0']),
    start: (random) => Math.round(random() * 1e9),
    next: [counter(0.4, 5_000), same, same],
  })),
  ...['read_time', 'write_time', 'io_time'].map((name): Kind => ({
    name: `node_disk_${name}_seconds_total`,
    labels: each('device', ['vda', 'vdb', 'sr0']),
    start: (random) => round(random() * 1e5, 3),
    next: [counter(0.4, 0.5, 3), same, same],
  })),
  ...[
    'size_bytes',
    'avail_bytes',
    'free_bytes',
    'files',
    'files_free',
    'readonly',
    'device_error',
  ].map((name, i): Kind => ({
    name: `node_filesystem_${name}`,
    labels: each('mountpoint', ['/', '/boot', '/run', '/tmp', '/var']),
    start: (random) => Math.round(random() * 2e7) * 4_096,
    next:
      i === 1 || i === 2
        ? [walk(0.4, 60, 4_096), same, walk(0.1, 4, 4_096), same, walk(0.3, 40, 4_096)]
        : [same],
  })),
  ...['load1', 'load5', 'load15'].map((name): Kind => ({
    name: `node_${name}`,
    labels: [[]],
    start: () => 0.5,
    next: [noise(2, 2)],
  })),
  ...[
    'context_switches_total',
    'intr_total',
    'forks_total',
    'vmstat_pgfault',
    'vmstat_pgpgin',
    'vmstat_pgpgout',
    'netstat_Tcp_InSegs',
    'netstat_Tcp_OutSegs',
    'netstat_Udp_InDatagrams',
    'netstat_Ip_Forwarding',
  ].map((name): Kind => ({
    name: `node_${name}`,
    labels: [[]],
    start: (random) => Math.round(random() * 1e9),
    next: [counter(0.9, 9_000)],
  })),
  {
    name: 'node_scrape_collector_duration_seconds',
    labels: each('collector', numbered('collector', 30)),
    start: () => 0.001,
    next: [noise(0.01, 9)],
  },
  {
    name: 'node_scrape_collector_success',
    labels: each('collector', numbered('collector', 30)),
    start: () => 1,
    next: [same],
  },
  {
    name: 'node_systemd_unit_state',
    labels: numbered('unit', 20).flatMap((unit) =>
      ['active', 'failed', 'inactive'].map((state) => [
        ['name', `${unit}.service`] as const,
        ['state', state] as const,
      ]),
    ),
    start: (random) => (random() < 0.3 ? 1 : 0),
    next: [same],
  },
  {
    name: 'node_cooling_device_cur_state',
    labels: each('name', numbered('', 8)),
    start: () => 0,
    next: [same],
  },
  { name: 'node_sockstat_sockets_used', labels: [[]], start: () => 300, next: [walk(0.5, 10, 1)] },
  { name: 'node_boot_time_seconds', labels: [[]], start: () => 1_795_000_000, next: [same] },
  {
    name: 'node_time_seconds',
    labels: [[]],
    start: () => 1_795_100_000,
    next: [(value, random) => round(value + 15 + (random() - 0.5) / 100, 7)],
  },
  ...numbered('sysctl_', 60).map((name): Kind => ({
    name: `node_${name}`,
    labels: [[]],
    start: (random) => Math.round(random() * 1e6),
    next: [same],
  })),
];

export const seriesPerHost = kinds.reduce((sum, { labels }) => sum + labels.length, 0);

interface Host {
  readonly phase: number;
  /** Encoded label messages of each series. */
  readonly labels: readonly Uint8Array[];
  readonly values: Float64Array;
  readonly next: readonly Behaviour[];
}

export interface Fleet {
  readonly series: number;
  /** The requests of one round of scrapes, each host scraped once, a few hosts a request; `at` is the time of the round. */
  requests(at: number): { readonly body: Uint8Array; readonly samples: number }[];
}

type Names = (number: number) => readonly (readonly [string, string])[];
const scraped: Names = (number) => [
  ['instance', `host-${number}.example.org:9100`],
  ['job', 'node'],
];

/** Hosts that are scraped every 15 s, each at its own phase and with a jitter of some milliseconds. */
export function fleet(
  hosts: number,
  seed = 1,
  names = scraped,
  kindsOf: (number: number) => readonly Kind[] = () => kinds,
): Fleet {
  const random = seeded(seed);
  const all = Array.from({ length: hosts }, (_, number) =>
    host(kindsOf(number), names(number), random),
  );
  const perHost = all[0]!.labels.length;
  const hostsPerRequest = Math.max(1, Math.floor(2_000 / perHost));
  return {
    series: hosts * perHost,
    requests(at) {
      const requests: { body: Uint8Array; samples: number }[] = [];
      for (let from = 0; from < hosts; from += hostsPerRequest) {
        const some = all.slice(from, from + hostsPerRequest);
        requests.push({
          body: snappyEncode(scrapes(some, at, random)),
          samples: some.length * perHost,
        });
      }
      return requests;
    },
  };
}

function host(kinds: readonly Kind[], names: ReturnType<Names>, random: () => number): Host {
  const labels: Uint8Array[] = [];
  const starts: number[] = [];
  const next: Behaviour[] = [];
  for (const kind of kinds) {
    kind.labels.forEach((own, i) => {
      const pairs = [['__name__', kind.name] as const, ...own, ...names].map(
        ([name, value]): [string, string] => [name, value],
      );
      pairs.sort(([a], [b]) => (a < b ? -1 : 1));
      const out = new ProtoWriter();
      pairs.forEach(([name, value]) =>
        out.message(1, (label) => label.string(1, name).string(2, value)),
      );
      labels.push(out.finish().slice());
      starts.push(kind.start(random));
      next.push(kind.next[i % kind.next.length]!);
    });
  }
  return { phase: Math.floor(random() * 14_000), labels, values: Float64Array.from(starts), next };
}

/** Writes scrapes by hand: a generator slower than what it measures would measure itself. */
function scrapes(hosts: readonly Host[], at: number, random: () => number): Uint8Array {
  const out = Buffer.alloc(
    hosts.reduce(
      (sum, { labels }) => sum + labels.reduce((bytes, { length }) => bytes + length + 30, 0),
      0,
    ),
  );
  let end = 0;
  for (const { phase, labels, values, next } of hosts) {
    const time = at + phase + Math.round((random() + random() + random() - 1.5) * 3);
    for (let i = 0; i < labels.length; i++) {
      const value = (values[i] = next[i]!(values[i]!, random));
      const raw = labels[i]!;
      const length = raw.length + 18;
      out[end++] = 0x0a;
      if (length >= 128) {
        out[end++] = (length & 127) | 128;
        out[end++] = length >> 7;
      } else {
        out[end++] = length;
      }
      out.set(raw, end);
      end += raw.length;
      out[end++] = 0x12;
      out[end++] = 16;
      out[end++] = 0x09;
      end = out.writeDoubleLE(value, end);
      out[end++] = 0x10;
      let rest = time;
      for (; rest >= 128; rest = Math.floor(rest / 128)) {
        out[end++] = (rest % 128) | 128;
      }
      out[end++] = rest;
    }
  }
  return out.subarray(0, end);
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
