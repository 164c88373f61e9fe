import type { CollectorName } from '../spec.ts';
import type { Collect } from './collector.ts';
import { diskstats, filesystem } from './disk.ts';
import { cgroup, meminfo, vmstat } from './memory.ts';
import { arp, netclass, netdev, softnet } from './network.ts';
import { cpu, loadavg, pressure, stat } from './processor.ts';
import { conntrack, netstat, sockstat } from './protocol.ts';
import { entropy, filefd, os, time, uname } from './system.ts';

/** Everything that can be measured, by the name under which the spec switches it. */
export const collectors: Readonly<Record<CollectorName, Collect>> = {
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
