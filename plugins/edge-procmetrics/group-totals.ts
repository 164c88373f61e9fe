import { isSame, type MetricSink, type ProcessStat } from 'svc/probe';

import type { ProcessDetail } from './process-detail.ts';

/** A process of a group, at one measurement. */
export interface Member {
  readonly stat: ProcessStat;
  readonly detail: ProcessDetail;
  readonly group: string;
}

/** Numbers of a process that only grow. */
const counters = {
  user: ({ stat }: Member) => stat.userTime / 100,
  system: ({ stat }: Member) => stat.systemTime / 100,
  major: ({ stat }: Member) => stat.majorFaults,
  minor: ({ stat }: Member) => stat.minorFaults,
  voluntary: ({ detail }: Member) => detail.voluntarySwitches,
  nonvoluntary: ({ detail }: Member) => detail.otherSwitches,
  read: ({ detail }: Member) => detail.readBytes,
  write: ({ detail }: Member) => detail.writtenBytes,
};

type Counter = keyof typeof counters;

const counterSeries: readonly (readonly [Counter, string, readonly string[]])[] = [
  ['user', 'cpu_seconds_total', ['mode', 'user']],
  ['system', 'cpu_seconds_total', ['mode', 'system']],
  ['major', 'major_page_faults_total', []],
  ['minor', 'minor_page_faults_total', []],
  ['voluntary', 'context_switches_total', ['ctxswitchtype', 'voluntary']],
  ['nonvoluntary', 'context_switches_total', ['ctxswitchtype', 'nonvoluntary']],
  ['read', 'read_bytes_total', []],
  ['write', 'write_bytes_total', []],
];

const stateNames = ['Running', 'Sleeping', 'Waiting', 'Zombie', 'Other'] as const;
const stateOf: Readonly<Record<string, (typeof stateNames)[number]>> = {
  R: 'Running',
  S: 'Sleeping',
  D: 'Waiting',
  Z: 'Zombie',
};

export interface TotalsOptions {
  readonly maxGroups: number;
  readonly pageSize: number;
  readonly files: boolean;
  readonly io: boolean;
}

const prefix = 'namedprocess_namegroup_';

/**
 * Counters of groups, which outlive the processes in them: each grows by what its processes have grown since the measurement
 * before. A process that has come since then brings all it has; one that was there before the first counts from then on.
 */
export class GroupTotals {
  readonly #options: TotalsOptions;
  readonly #totals = new Map<string, Map<Counter, number>>();
  #before = new Map<number, Member>();
  /**
   * Time in hundredths of a second since the host booted; undefined before the first measurement.
   */
  #measuredAt: number | undefined;

  constructor(options: TotalsOptions) {
    this.#options = options;
  }

  /** `uptime` in seconds, of the moment at which the members were read, and `boot` in seconds since the epoch. */
  add(
    found: readonly Member[],
    { uptime, boot }: { readonly uptime: number; readonly boot: number | undefined },
    sink: MetricSink,
  ): void {
    const groups = new Map<string, Member[]>();
    const live = new Set(found.map(({ group }) => group));
    for (const member of found) {
      const group = this.#admit(member.group, live);
      this.#grow(group, member);
      groups.set(group, [...(groups.get(group) ?? []), member]);
    }
    this.#before = new Map(found.map((member) => [member.stat.pid, member]));
    this.#measuredAt = uptime * 100;
    for (const [group, totals] of this.#totals) {
      this.#write(group, totals, groups.get(group) ?? [], boot, sink);
    }
  }

  /**
   * Returns the group to count under: a group without processes gives way to a new one; if all are
   * in use, the rest share one.
   */
  #admit(group: string, live: ReadonlySet<string>): string {
    if (this.#totals.has(group)) {
      return group;
    }
    if (this.#totals.size >= this.#options.maxGroups) {
      const empty = [...this.#totals.keys()].find((name) => !live.has(name) && name !== 'other');
      if (empty === undefined) {
        this.#totals.set('other', this.#totals.get('other') ?? new Map());
        return 'other';
      }
      this.#totals.delete(empty);
    }
    this.#totals.set(group, new Map());
    return group;
  }

  #grow(group: string, member: Member): void {
    const totals = this.#totals.get(group)!;
    const earlier = this.#before.get(member.stat.pid);
    const same = earlier !== undefined && isSame(earlier.stat, member.stat);
    const isNew = this.#measuredAt !== undefined && member.stat.startTime >= this.#measuredAt;
    for (const [name, read] of Object.entries(counters) as [
      Counter,
      (member: Member) => number | undefined,
    ][]) {
      const now = read(member);
      const was = same ? read(earlier) : isNew ? 0 : now;
      if (now !== undefined) {
        totals.set(name, (totals.get(name) ?? 0) + Math.max(0, now - (was ?? now)));
      }
    }
  }

  #write(
    group: string,
    totals: ReadonlyMap<Counter, number>,
    members: readonly Member[],
    boot: number | undefined,
    sink: MetricSink,
  ): void {
    const labels = ['groupname', group];
    const add = (name: string, value: number, more: readonly string[] = []): void =>
      sink.add(prefix + name, value, [...labels, ...more]);
    const sum = (of: (member: Member) => number): number =>
      members.reduce((total, member) => total + of(member), 0);
    add('num_procs', members.length);
    add(
      'num_threads',
      sum(({ stat }) => stat.threads),
    );
    add('memory_bytes', sum(({ stat }) => stat.residentPages) * this.#options.pageSize, [
      'memtype',
      'resident',
    ]);
    add(
      'memory_bytes',
      sum(({ stat }) => stat.virtualBytes),
      ['memtype', 'virtual'],
    );
    add(
      'memory_bytes',
      sum(({ detail }) => detail.swappedBytes ?? 0),
      ['memtype', 'swapped'],
    );
    if (this.#options.files) {
      add(
        'open_filedesc',
        sum(({ detail }) => detail.openFiles ?? 0),
      );
      add(
        'worst_fd_ratio',
        Math.max(
          0,
          ...members.map(({ detail: { openFiles, maxFiles } }) =>
            openFiles === undefined || !maxFiles ? 0 : openFiles / maxFiles,
          ),
        ),
      );
    }
    if (boot !== undefined && members.length > 0) {
      add(
        'oldest_start_time_seconds',
        boot +
          members.reduce((oldest, { stat }) => Math.min(oldest, stat.startTime), Infinity) / 100,
      );
    }
    for (const state of stateNames) {
      add(
        'states',
        sum(({ stat }) => ((stateOf[stat.state] ?? 'Other') === state ? 1 : 0)),
        ['state', state],
      );
    }
    for (const [counter, name, more] of counterSeries) {
      if (this.#options.io || (counter !== 'read' && counter !== 'write')) {
        add(name, totals.get(counter) ?? 0, more);
      }
    }
  }
}
