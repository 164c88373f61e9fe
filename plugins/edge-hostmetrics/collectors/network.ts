import type { Collect } from './collector.ts';

/** Columns of /proc/net/dev in order. */
const columns = [
  'receive_bytes',
  'receive_packets',
  'receive_errs',
  'receive_drop',
  'receive_fifo',
  'receive_frame',
  'receive_compressed',
  'receive_multicast',
  'transmit_bytes',
  'transmit_packets',
  'transmit_errs',
  'transmit_drop',
  'transmit_fifo',
  'transmit_colls',
  'transmit_carrier',
  'transmit_compressed',
].map((name) => `node_network_${name}_total`);

export const netdev: Collect = (moment, sink) => {
  for (const { device, values } of moment.network()) {
    const labels = ['device', device];
    columns.forEach((name, i) => sink.add(name, values[i]!, labels));
  }
};

const megabit = 125_000;

/** File, name, and what one unit of the file is. */
const numbers: readonly (readonly [string, string, number])[] = [
  ['carrier', 'carrier', 1],
  ['carrier_changes', 'carrier_changes_total', 1],
  ['carrier_up_count', 'carrier_up_changes_total', 1],
  ['carrier_down_count', 'carrier_down_changes_total', 1],
  ['dormant', 'dormant', 1],
  ['flags', 'flags', 1],
  ['mtu', 'mtu_bytes', 1],
  ['speed', 'speed_bytes', megabit],
  ['tx_queue_len', 'transmit_queue_length', 1],
];

/** Files that a device has no answer for cannot be read while it is down. */
export const netclass: Collect = ({ files, machine }, sink) => {
  for (const device of files.names('/sys/class/net') ?? []) {
    if (machine.networkExclude.excludes(device)) {
      continue;
    }
    const word = (file: string): string =>
      files.text(`/sys/class/net/${device}/${file}`, 4_096)?.trim() ?? '';
    const state = word('operstate');
    if (state === '') {
      continue;
    }
    const labels = ['device', device];
    sink.add('node_network_up', state === 'up' ? 1 : 0, labels);
    const facts = ['address', 'broadcast', 'duplex', 'ifalias'].flatMap((file) => [
      file,
      word(file),
    ]);
    sink.add('node_network_info', 1, [...labels, ...facts, 'operstate', state]);
    for (const [file, name, unit] of numbers) {
      const value = files.number(`/sys/class/net/${device}/${file}`);
      if (value !== undefined) {
        sink.add(`node_network_${name}`, value * unit, labels);
      }
    }
  }
};

export const arp: Collect = ({ files }, sink) => {
  const entries = new Map<string, number>();
  for (const line of (files.text('/proc/net/arp') ?? '').split('\n').slice(1)) {
    const device = line.trim().split(/\s+/)[5];
    if (device !== undefined) {
      entries.set(device, (entries.get(device) ?? 0) + 1);
    }
  }
  for (const [device, count] of entries) {
    sink.add('node_arp_entries', count, ['device', device]);
  }
};

/** Processed, dropped and squeezed in hexadecimal, a line a CPU; newer kernels say which, because some may be missing. */
export const softnet: Collect = ({ files }, sink) => {
  const lines = (files.text('/proc/net/softnet_stat') ?? '').trim().split('\n').filter(Boolean);
  for (const [i, line] of lines.entries()) {
    const values = line.split(/ +/).map((text) => Number.parseInt(text, 16));
    const labels = ['cpu', String(values[12] ?? i)];
    ['processed', 'dropped', 'times_squeezed'].forEach((name, column) =>
      sink.add(`node_softnet_${name}_total`, values[column] ?? 0, labels),
    );
  }
};
