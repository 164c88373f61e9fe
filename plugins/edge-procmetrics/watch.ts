import {
  bootTime,
  isKernelThread,
  type ListParams,
  MetricBatch,
  ProcessWatch,
  type ProcessWatchPorts,
  type WriteBody,
} from 'svc/probe';

import { GroupTotals, type Member } from './group-totals.ts';
import { Groups } from './groups.ts';
import { readDetail } from './process-detail.ts';
import type { ProcessSpec } from './spec.ts';

/** The processes of this machine, measured by groups and listed on demand; both compare with the last scan of either. */
export class Watch {
  readonly #spec: ProcessSpec;
  readonly #ports: ProcessWatchPorts;
  readonly #processes: ProcessWatch;
  readonly #groups: Groups;
  readonly #totals: GroupTotals;

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
    const name =
      instance === '' ? (files.text('/proc/sys/kernel/hostname', 4_096)?.trim() ?? '') : instance;
    const batch = new MetricBatch({ time: scan.time, labels: ['instance', name, 'job', job] });
    this.#totals.add(members, { uptime, boot: bootTime(files) }, batch);
    return batch.finish();
  }

  list(params: ListParams, signal: AbortSignal): ReturnType<ProcessWatch['list']> {
    return this.#processes.list(params, signal);
  }
}
