import type { HostLife } from '../world/life.ts';
import type { Scene } from '../world/scene.ts';
import type { Machine } from '../world/world.ts';
import type { Samples, Target } from './samples.ts';

/** The label `instance` of a machine's node exporter. */
export const hostInstanceOf = (
  { hostInstance }: { readonly hostInstance: 'ip' | 'name' | 'name_with_port' },
  { ip, name }: Machine,
): string =>
  hostInstance === 'ip' ? `${ip}:9100` : hostInstance === 'name' ? name : `${name}:9100`;

/** Node exporters, under the raw names that dashboards make percentages of. */
export function exposeHosts(samples: Samples, { world, lives, random, course }: Scene): void {
  world.machines.forEach((machine, host) => {
    const life = lives.hosts[host]!;
    const target = {
      labels: {
        job: 'node-exporter',
        instance: hostInstanceOf(world.vocabulary, machine),
        ...(world.vocabulary.platform === 'kubernetes' && { node: machine.name }),
      },
      phaseMs: Math.floor(random() * course.stepMs),
      isUp: () => 1,
    };
    exposeProcessors(samples, target, machine, life);
    exposeDevices(samples, target, life);
  });
}

function exposeProcessors(
  samples: Samples,
  target: Target,
  machine: Machine,
  life: HostLife,
): void {
  const { cores, memory } = machine;
  samples.gauge(target, 'up', {}, () => 1);
  samples.gauge(target, 'node_uname_info', { nodename: machine.name, sysname: 'Linux' }, () => 1);
  // Two of the processors stand for all of them.
  for (const cpu of ['0', '1']) {
    const wait = (step: number): number =>
      Math.min(0.6, 0.01 + 0.02 * (life.diskSlow[step]! - 1)) * (1 - life.cpu[step]!);
    samples.sum(
      target,
      'node_cpu_seconds_total',
      { cpu, mode: 'user' },
      (step) => life.cpu[step]! * 0.8,
    );
    samples.sum(
      target,
      'node_cpu_seconds_total',
      { cpu, mode: 'system' },
      (step) => life.cpu[step]! * 0.2,
    );
    samples.sum(target, 'node_cpu_seconds_total', { cpu, mode: 'iowait' }, wait);
    samples.sum(
      target,
      'node_cpu_seconds_total',
      { cpu, mode: 'idle' },
      (step) => 1 - life.cpu[step]! - wait(step),
    );
  }
  samples.gauge(
    target,
    'node_load1',
    {},
    (step) =>
      life.cpu[step]! * cores * (life.cpu[step]! > 0.95 ? 2.2 : 1) +
      0.4 * life.diskSlow[step]! -
      0.4,
  );
  samples.gauge(target, 'node_memory_MemTotal_bytes', {}, () => memory);
  samples.gauge(target, 'node_memory_MemAvailable_bytes', {}, (step) =>
    Math.round(memory * (1 - life.memory[step]!)),
  );
}

function exposeDevices(samples: Samples, target: Target, life: HostLife): void {
  const root = { mountpoint: '/', device: '/dev/sda1', fstype: 'ext4' };
  samples.gauge(target, 'node_filesystem_size_bytes', root, () => 200e9);
  samples.gauge(target, 'node_filesystem_avail_bytes', root, (step) =>
    Math.round(200e9 * Math.max(0, 1 - life.disk[step]!)),
  );
  samples.sum(
    target,
    'node_disk_io_time_seconds_total',
    { device: 'sda' },
    (step) => life.diskBusy[step]!,
  );
  const writes = (step: number): number => 40 * (0.5 + life.cpu[step]!);
  samples.counter(target, 'node_disk_writes_completed_total', { device: 'sda' }, writes);
  samples.sum(
    target,
    'node_disk_write_time_seconds_total',
    { device: 'sda' },
    (step) => writes(step) * 0.002 * life.diskSlow[step]!,
  );
  samples.counter(
    target,
    'node_network_receive_bytes_total',
    { device: 'eth0' },
    (step) => 4e6 * (0.5 + life.cpu[step]!),
  );
  samples.counter(
    target,
    'node_network_transmit_bytes_total',
    { device: 'eth0' },
    (step) => 3e6 * (0.5 + life.cpu[step]!),
  );
  samples.counter(target, 'node_netstat_Tcp_RetransSegs', {}, (step) => life.retransmits[step]!);
  samples.gauge(
    target,
    'node_filefd_allocated',
    {},
    (step) => 2_000 + Math.round(500 * life.cpu[step]!),
  );
}
