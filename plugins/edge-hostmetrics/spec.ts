/** Names of what can be measured, as the spec switches them. */
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

export interface TargetSpec {
  readonly job: string;
  readonly url: string;
  readonly interval: string;
  readonly timeout: string;
  readonly max_series: number;
  readonly max_bytes: number;
  readonly labels: Readonly<Record<string, string>>;
}

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

/** `15s` and `2m`, which the schema has let through. */
export const milliseconds = (duration: string): number =>
  Number(duration.slice(0, -1)) * (duration.endsWith('m') ? 60_000 : 1_000);
