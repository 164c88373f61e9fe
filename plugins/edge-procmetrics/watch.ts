import { type After, type MachineFiles, MetricBatch, pageSizeOf, type WriteBody } from 'svc/probe';
import type { Clock } from 'svc/sdk';

import { CommandLines, type ReadStart } from './command-lines.ts';
import { GroupTotals, type Member } from './group-totals.ts';
import { Groups } from './groups.ts';
import { bootTime, type ListParams, listProcesses } from './process-list.ts';
import { readDetail } from './process-detail.ts';
import { isKernelThread } from './process-stat.ts';
import { type Scan, scanProcesses } from './process-table.ts';
import type { ProcessSpec } from './spec.ts';

export interface WatchPorts {
  readonly files: MachineFiles;
  readonly clock: Clock;
  readonly after: After;
  readonly readStart?: ReadStart;
}

/** A scan can be compared with one that is neither too near, for the kernel counts in hundredths of a second, nor too old to mean now. */
const [nearestMs, oldestMs] = [500, 90_000];

/** The processes of this machine, measured by groups and listed on demand; both compare with the last scan of either. */
export class Watch {
  readonly #spec: ProcessSpec;
  readonly #ports: WatchPorts;
  readonly #pageSize: number;
  readonly #commandLines: CommandLines;
  readonly #groups: Groups;
  readonly #totals: GroupTotals;
  #last: Scan | undefined;

  constructor(spec: ProcessSpec, ports: WatchPorts) {
    this.#spec = spec;
    this.#ports = ports;
    this.#pageSize = pageSizeOf(ports.files);
    this.#commandLines = new CommandLines(ports.files, ports.after, ports.readStart);
    this.#groups = new Groups(spec, this.#commandLines);
    this.#totals = new GroupTotals({ mostGroups: spec.max_groups, pageSize: this.#pageSize, files: spec.files, io: spec.io });
  }

  async measure(): Promise<readonly WriteBody[]> {
    const { files } = this.#ports;
    const { job, instance, kernel_threads: kernel } = this.#spec;
    const uptime = files.number('/proc/uptime') ?? 0;
    const scan = await this.#scan();
    this.#last = scan;
    const counted = [...scan.processes.values()].filter((process) => kernel || !isKernelThread(process));
    const members: Member[] = [];
    for (const [stat, group] of await this.#groups.assign(counted)) {
      members.push({ stat, group, detail: readDetail(files, stat.pid, this.#spec) });
      if (members.length % 100 === 0) {
        await this.#pause(0);
      }
    }
    const name = instance === '' ? (files.text('/proc/sys/kernel/hostname', 4_096)?.trim() ?? '') : instance;
    const batch = new MetricBatch({ time: scan.time, labels: ['instance', name, 'job', job] });
    this.#totals.add(members, { uptime, boot: bootTime(files) }, batch);
    return batch.finish();
  }

  async list(params: ListParams, signal: AbortSignal): Promise<Awaited<ReturnType<typeof listProcesses>>> {
    const { files } = this.#ports;
    return listProcesses(params, { files, commandLines: this.#commandLines, pageSize: this.#pageSize, scans: (ended) => this.#scans(ended) }, signal);
  }

  /** Against the last scan where that can be; else against one of this moment, after a little while. */
  async #scans(signal: AbortSignal): Promise<{ before: Scan; now: Scan }> {
    let before = this.#last;
    const age = before === undefined ? Infinity : this.#ports.clock.monotonic() - before.monotonic;
    if (before === undefined || age < nearestMs || age > oldestMs) {
      before = await this.#scan();
      await this.#pause(nearestMs);
      signal.throwIfAborted();
    }
    const now = await this.#scan();
    this.#last = now;
    return { before, now };
  }

  #scan(): Promise<Scan> {
    return scanProcesses(this.#ports.files, this.#ports.clock, () => this.#pause(0));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#ports.after(ms, resolve));
  }
}
