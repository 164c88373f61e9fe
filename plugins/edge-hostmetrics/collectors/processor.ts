import { cpuModes } from '../proc/stat.ts';
import type { Collect } from './collector.ts';

/** The kernel counts in hundredths of a second for every reader of /proc, whatever it uses itself. */
const perSecond = 100;

export const cpu: Collect = (moment, sink) => {
  for (const [cpuName, times] of moment.cpus()) {
    cpuModes.forEach((mode, i) =>
      sink.add('node_cpu_seconds_total', times[i]! / perSecond, ['cpu', cpuName, 'mode', mode]),
    );
    sink.add('node_cpu_guest_seconds_total', times[8]! / perSecond, [
      'cpu',
      cpuName,
      'mode',
      'user',
    ]);
    sink.add('node_cpu_guest_seconds_total', times[9]! / perSecond, [
      'cpu',
      cpuName,
      'mode',
      'nice',
    ]);
  }
};

const totals: readonly (readonly [string, string])[] = [
  ['intr', 'node_intr_total'],
  ['ctxt', 'node_context_switches_total'],
  ['processes', 'node_forks_total'],
  ['btime', 'node_boot_time_seconds'],
  ['procs_running', 'node_procs_running'],
  ['procs_blocked', 'node_procs_blocked'],
];

export const stat: Collect = (moment, sink) => {
  for (const [key, name] of totals) {
    const value = moment.stat().totals.get(key);
    if (value !== undefined) {
      sink.add(name, value);
    }
  }
};

export const loadavg: Collect = (moment, sink) => {
  const load = moment.load();
  ['node_load1', 'node_load5', 'node_load15'].forEach(
    (name, i) => load[i] !== undefined && sink.add(name, load[i]),
  );
};

const microseconds = 1e6;
const pressures: readonly (readonly [string, string, string])[] = [
  ['cpu', 'some', 'node_pressure_cpu_waiting_seconds_total'],
  ['io', 'some', 'node_pressure_io_waiting_seconds_total'],
  ['io', 'full', 'node_pressure_io_stalled_seconds_total'],
  ['memory', 'some', 'node_pressure_memory_waiting_seconds_total'],
  ['memory', 'full', 'node_pressure_memory_stalled_seconds_total'],
];

/** Absent before Linux 4.20, and where it was switched off. */
export const pressure: Collect = (moment, sink) => {
  for (const [resource, kind, name] of pressures) {
    const line = moment.files
      .text(`/proc/pressure/${resource}`)
      ?.split('\n')
      .find((text) => text.startsWith(`${kind} `));
    const total = /\btotal=(\d+)/.exec(line ?? '')?.[1];
    if (total !== undefined) {
      sink.add(name, Number(total) / microseconds);
    }
  }
};
