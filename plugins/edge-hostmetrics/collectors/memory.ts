import type { Collect } from './collector.ts';

export const meminfo: Collect = (moment, sink) => {
  for (const [name, value] of moment.memory()) {
    sink.add(`node_memory_${name}`, value);
  }
};

const faults = /^(?:oom_kill|pgpg|pswp|pg.*fault)/;

export const vmstat: Collect = (moment, sink) => {
  for (const line of (moment.files.text('/proc/vmstat') ?? '').split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0 && faults.test(line)) {
      sink.add(`node_vmstat_${line.slice(0, space)}`, Number(line.slice(space + 1)));
    }
  }
};

/** Value above which a cgroup v1 limit means unlimited. */
const unlimited = 2 ** 60;

/**
 * Collects the limits of the container that this agent runs in, if any: the root of the hierarchy
 * has no such files, so on a host of its own there is nothing to report. The host's own memory is
 * in meminfo in either case.
 */
export const cgroup: Collect = ({ files }, sink) => {
  for (const [limit, usage] of [
    ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory.current'],
    ['/sys/fs/cgroup/memory/memory.limit_in_bytes', '/sys/fs/cgroup/memory/memory.usage_in_bytes'],
  ] as const) {
    const bytes = files.number(limit);
    const used = files.number(usage);
    if (bytes !== undefined && bytes < unlimited) {
      sink.add('node_cgroup_memory_limit_bytes', bytes);
      if (used !== undefined) {
        sink.add('node_cgroup_memory_usage_bytes', used);
      }
      break;
    }
  }
  const [quota, period] = (files.text('/sys/fs/cgroup/cpu.max') ?? '')
    .trim()
    .split(' ')
    .map(Number);
  const cores =
    quota !== undefined && period !== undefined
      ? quota / period
      : (files.number('/sys/fs/cgroup/cpu/cpu.cfs_quota_us') ?? NaN) /
        (files.number('/sys/fs/cgroup/cpu/cpu.cfs_period_us') ?? NaN);
  // `max` and -1 are no limit.
  if (Number.isFinite(cores) && cores > 0) {
    sink.add('node_cgroup_cpu_limit_cores', cores);
  }
};
