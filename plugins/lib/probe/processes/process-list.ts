import type { MachineFiles } from '../machine/machine-files.ts';
import { timestamp } from 'svc/sdk';

import { redactArguments } from '../redaction/command-redaction.ts';
import { accountsOf, userOf } from './accounts.ts';
import type { CommandLines } from './command-lines.ts';
import { errors } from './errors.ts';
import { plainName } from './plain-name.ts';
import type { ProcessStat } from './process-stat.ts';
import { cpuPercent, type Scan } from './process-table.ts';

export interface ListParams {
  readonly top: number;
  readonly sort_by: 'cpu' | 'mem';
}

/** One process as the manager shows it; null is what this machine does not tell. */
export interface ListedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly cmdline: string;
  readonly user: string | null;
  readonly state: string;
  readonly cpu_percent: number | null;
  readonly mem_percent: number | null;
  readonly rss_bytes: number;
  readonly started_at: string | null;
}

export interface ListPorts {
  readonly files: MachineFiles;
  readonly commandLines: CommandLines;
  readonly pageSize: number;
  /** The processes now, and at an earlier moment that is far enough away to compare with. */
  readonly scans: (
    signal: AbortSignal,
  ) => Promise<{ readonly before: Scan | undefined; readonly now: Scan }>;
}

const [maxRows, usualRows, longestLine] = [2_000, 50, 4_096];

export function listParams(params: unknown): ListParams {
  const {
    top = usualRows,
    sort_by: by = 'cpu',
    ...others
  } = (typeof params === 'object' && params !== null ? params : {}) as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw errors.process_parameter({ unknown: unknown.slice(0, 60) });
  }
  if (typeof top !== 'number' || !Number.isInteger(top) || top < 1 || top > maxRows) {
    throw errors.top({ max: maxRows });
  }
  if (by !== 'cpu' && by !== 'mem') {
    throw errors.sort_by();
  }
  return { top, sort_by: by };
}

/** The first of all processes by CPU or memory; only of these more than their numbers is read. */
export async function listProcesses(
  { top, sort_by: by }: ListParams,
  ports: ListPorts,
  signal: AbortSignal,
): Promise<{ sampled_at: string; processes: ListedProcess[] }> {
  const { files, commandLines, pageSize, scans } = ports;
  const { before, now } = await scans(signal);
  const percent = new Map(
    [...now.processes.values()].map((process) => [process, cpuPercent(process, now, before)]),
  );
  const size =
    by === 'cpu'
      ? (process: ProcessStat) => percent.get(process) ?? -1
      : (process: ProcessStat) => process.residentPages;
  const first = [...now.processes.values()]
    .sort((a, b) => size(b) - size(a) || b.residentPages - a.residentPages || a.pid - b.pid)
    .slice(0, top);
  const accounts = accountsOf(files);
  const memory =
    Number(/^MemTotal:\s+(\d+)/m.exec(files.text('/proc/meminfo') ?? '')?.[1] ?? NaN) * 1024;
  const boot = bootTime(files);
  const processes: ListedProcess[] = [];
  for (const process of first) {
    signal.throwIfAborted();
    const args = await commandLines.of(process.pid);
    const rss = process.residentPages * pageSize;
    processes.push({
      pid: process.pid,
      ppid: process.ppid,
      name: plainName(process.name),
      cmdline:
        args.length === 0
          ? `[${plainName(process.name)}]`
          : plainName(redactArguments(args).join(' ')).slice(0, longestLine),
      user: userOf(files, accounts, process.pid),
      state: process.state,
      cpu_percent: rounded(percent.get(process)),
      mem_percent: Number.isFinite(memory) && memory > 0 ? rounded((100 * rss) / memory) : null,
      rss_bytes: rss,
      started_at: boot === undefined ? null : timestamp((boot + process.startTime / 100) * 1000),
    });
  }
  return { sampled_at: timestamp(now.time), processes };
}

/** Seconds since the epoch at which this machine started. */
export function bootTime(files: MachineFiles): number | undefined {
  const seconds = /^btime (\d+)/m.exec(files.text('/proc/stat') ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value * 100) / 100;
