import type { TargetSpec } from './scrape/target-spec.ts';

/** Names of collectors, as in the spec. */
export const collectorNames = [
  'arp',
  'cgroup',
  'conntrack',
  'cpu',
  'diskstats',
  'entropy',
  'filefd',
  'filesystem',
  'loadavg',
  'meminfo',
  'netclass',
  'netdev',
  'netstat',
  'os',
  'pressure',
  'sockstat',
  'softnet',
  'stat',
  'time',
  'uname',
  'vmstat',
] as const;

export type CollectorName = (typeof collectorNames)[number];

/** The `spec` of edge.json, checked, defaults filled in. */
export interface HostSpec {
  readonly interval: string;
  readonly job: string;
  readonly instance: string;
  readonly collectors: Readonly<Record<CollectorName | 'canonical', boolean>>;
  readonly filesystem: {
    readonly mount_exclude: string;
    readonly fstype_exclude: string;
    readonly timeout: string;
  };
  readonly disk: { readonly device_exclude: string };
  readonly network: { readonly device_exclude: string };
  readonly targets: readonly TargetSpec[];
}
