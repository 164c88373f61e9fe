import type { Category } from './findings.ts';
import type { CheckResult, SliKind } from './snapshot.ts';

interface KnownCheck {
  readonly category: Category;
  readonly says: string;
  /** Kinds of series in which the trouble would show; where they are measured and calm, the check tells little. */
  readonly shows?: readonly SliKind[];
}

/** Checks that are understood, by name, with the kind of trouble that a complaint indicates. */
export const knownChecks: Readonly<Record<string, KnownCheck>> = {
  disk_full: { shows: ['disk'], category: 'resource_exhaustion', says: 'a file system is full' },
  days_to_full: { category: 'resource_exhaustion', says: 'a file system will soon be full' },
  inodes: { category: 'resource_exhaustion', says: 'a file system has no inodes left' },
  oom_kills: {
    shows: ['memory'],
    category: 'resource_exhaustion',
    says: 'processes were killed because memory ran out',
  },
  swap: {
    shows: ['memory'],
    category: 'resource_exhaustion',
    says: 'memory is swapped in and out',
  },
  cpu_steal: {
    shows: ['cpu', 'load'],
    category: 'infrastructure',
    says: 'the hypervisor gives its CPU time to other machines',
  },
  iowait: {
    shows: ['disk', 'load'],
    category: 'resource_exhaustion',
    says: 'processes are waiting for the disk',
  },
  load_per_core: {
    shows: ['cpu', 'load'],
    category: 'resource_exhaustion',
    says: 'more processes are ready to run than there are cores',
  },
  fd_limit: { category: 'resource_exhaustion', says: 'file descriptors are used up' },
  conntrack: { category: 'resource_exhaustion', says: 'the connection tracking table is full' },
  tcp_retransmits: { shows: ['network'], category: 'infrastructure', says: 'packets are lost' },
  clock_skew: { category: 'infrastructure', says: 'the clock is wrong' },
  cert_expiry: { category: 'configuration_error', says: 'a certificate has expired' },
  dns_failure: { category: 'infrastructure', says: 'DNS names cannot be resolved' },
  edge_offline: { category: 'infrastructure', says: 'its agent is not connected' },
  edge_flapping: { category: 'infrastructure', says: 'its agent keeps disconnecting' },
  plugin_crashed: { category: 'data_quality', says: 'a plugin of its agent crashed' },
  no_data: { category: 'data_quality', says: 'it sends no data' },
  restart_loop: { category: 'code_defect', says: 'a process keeps restarting' },
  nic_errors: {
    shows: ['network'],
    category: 'infrastructure',
    says: 'the network interface reports errors',
  },
  filesystem_readonly: { category: 'infrastructure', says: 'a file system is read-only' },
  filesystem_error: { category: 'infrastructure', says: 'a file system has errors' },
  memory_pressure: {
    shows: ['memory'],
    category: 'resource_exhaustion',
    says: 'processes are stalled because memory is short',
  },
  cgroup_memory: {
    category: 'resource_exhaustion',
    says: 'a control group has reached its memory limit',
  },
  disk_slow: { shows: ['disk'], category: 'infrastructure', says: 'the disk is responding slowly' },
  listen_overflows: {
    category: 'resource_exhaustion',
    says: 'connections are refused because the program does not accept them in time',
  },
  nic_down: { category: 'infrastructure', says: 'a network interface is down' },
  probe_failure: { category: 'unknown', says: 'a probe of it is failing' },
  reboot: { category: 'infrastructure', says: 'it was rebooted' },
  units_failed: { category: 'unknown', says: 'a system service failed' },
  zombies: { category: 'code_defect', says: 'finished processes are not reaped' },
};

/** Checks that indicate failed measuring, and nothing about what is measured. */
export const blindChecks: ReadonlySet<string> = new Set([
  'edge_offline',
  'edge_flapping',
  'plugin_crashed',
  'no_data',
]);

/** Returns the complaints that concern this incident: understood, and not long-standing. */
export const complaintsOf = (
  checks: readonly CheckResult[],
  node: string,
  from: number,
): CheckResult[] =>
  checks.filter(
    (check) =>
      check.node === node &&
      !check.ok &&
      check.interesting &&
      Object.hasOwn(knownChecks, check.check) &&
      (check.since === undefined || check.since >= from),
  );
