import {
  accountsOf,
  bootTime,
  cpuPercent,
  isKernelThread,
  type ListParams,
  MetricBatch,
  ProcessWatch,
  type ProcessWatchPorts,
  type Scan,
  userOf,
  type WriteBody,
} from 'svc/probe';

import { GroupTotals, type Member } from './group-totals.ts';
import { Groups } from './groups.ts';
import { ProcessHistory, type RememberedProcess } from './history.ts';
import { readDetail } from './process-detail.ts';
import type { ProcessSpec } from './spec.ts';

/** The processes of this machine, measured by groups and listed on demand; both compare with the last scan of either. */
export class Watch {
  readonly #spec: ProcessSpec;
  readonly #ports: ProcessWatchPorts;
  readonly #processes: ProcessWatch;
  readonly #groups: Groups;
  readonly #totals: GroupTotals;
  readonly #history: ProcessHistory;
  #before: { readonly scan: Scan; readonly io: ReadonlyMap<string, number> } | undefined;

  constructor(spec: ProcessSpec, ports: ProcessWatchPorts) {
    this.#spec = spec;
    this.#ports = ports;
    this.#processes = new ProcessWatch(ports);
    this.#groups = new Groups(spec, this.#processes.commandLines);
    this.#totals = new GroupTotals({
      maxGroups: spec.max_groups,
      pageSize: this.#processes.pageSize,
      files: spec.files,
      io: spec.io,
    });
    const { files } = ports;
    this.#history = new ProcessHistory({
      userOf: (pid) => userOf(files, accountsOf(files), pid),
      bootTime: () => bootTime(files),
    });
  }

  async measure(): Promise<readonly WriteBody[]> {
    const { files } = this.#ports;
    const { job, instance, kernel_threads: kernel } = this.#spec;
    const uptime = files.number('/proc/uptime') ?? 0;
    const scan = await this.#processes.scan();
    const counted = [...scan.processes.values()].filter(
      (process) => kernel || !isKernelThread(process),
    );
    const members: Member[] = [];
    for (const [stat, group] of await this.#groups.assign(counted)) {
      members.push({ stat, group, detail: readDetail(files, stat.pid, this.#spec) });
      if (members.length % 100 === 0) {
        await this.#processes.pause(0);
      }
    }
    this.#remember(scan, members);
    const name =
      instance === '' ? (files.text('/proc/sys/kernel/hostname', 4_096)?.trim() ?? '') : instance;
    const batch = new MetricBatch({ time: scan.time, labels: ['instance', name, 'job', job] });
    this.#totals.add(members, { uptime, boot: bootTime(files) }, batch);
    return batch.finish();
  }

  /** Returns who used the most of the machine in a time, as far back as it is kept. */
  history(from: number, to: number): readonly RememberedProcess[] {
    return this.#history.between(from, to);
  }

  #remember(scan: Scan, members: readonly Member[]): void {
    const before = this.#before;
    const io = new Map(
      members.map(({ stat, detail: { readBytes = 0, writtenBytes = 0 } }) => [
        keyOf(stat),
        readBytes + writtenBytes,
      ]),
    );
    this.#before = { scan, io };
    if (before !== undefined) {
      const seconds = (scan.monotonic - before.scan.monotonic) / 1_000;
      const uses = members.map(({ stat }) => ({
        stat,
        // One that has come since has used what it has within this time.
        cpu: cpuPercent(stat, scan, before.scan) ?? (stat.userTime + stat.systemTime) / seconds,
        rss: stat.residentPages * this.#processes.pageSize,
        io: Math.max(0, io.get(keyOf(stat))! - (before.io.get(keyOf(stat)) ?? 0)) / seconds,
      }));
      this.#history.note(scan.time, uses);
    }
  }

  list(params: ListParams, signal: AbortSignal): ReturnType<ProcessWatch['list']> {
    return this.#processes.list(params, signal);
  }
}

const keyOf = ({ pid, startTime }: Member['stat']): string => `${pid} ${startTime}`;
