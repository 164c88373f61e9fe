import type { MachineFiles } from '../machine/machine-files.ts';

import { parseProcessStat, type ProcessStat } from './process-stat.ts';

/** All processes at one moment. */
export interface Scan {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Milliseconds that never jump. */
  readonly monotonic: number;
  readonly processes: ReadonlyMap<number, ProcessStat>;
}

/** Processes after which the event loop gets a turn: a host may have thousands. */
const turn = 200;
const maxProcesses = 32_768;

/** Reads every process. Those that end meanwhile are absent, which is no error. */
export async function scanProcesses(
  files: MachineFiles,
  clock: { now(): number; monotonic(): number },
  rest: () => Promise<void>,
): Promise<Scan> {
  const scan = {
    time: clock.now(),
    monotonic: clock.monotonic(),
    processes: new Map<number, ProcessStat>(),
  };
  let seen = 0;
  for (const name of files.names('/proc') ?? []) {
    if (!/^[1-9]\d{0,9}$/.test(name)) {
      continue;
    }
    const stat = parseProcessStat(files.text(`/proc/${name}/stat`, 4_096) ?? '');
    if (stat !== undefined) {
      scan.processes.set(stat.pid, stat);
    }
    if (++seen >= maxProcesses) {
      break;
    }
    if (seen % turn === 0) {
      await rest();
    }
  }
  return scan;
}

/** The share of one CPU that a process had between two scans, in percent; undefined when the earlier one does not know it. */
export function cpuPercent(
  process: ProcessStat,
  now: Scan,
  before: Scan | undefined,
): number | undefined {
  const was = before?.processes.get(process.pid);
  const seconds = before === undefined ? 0 : (now.monotonic - before.monotonic) / 1000;
  if (was === undefined || was.startTime !== process.startTime || seconds <= 0) {
    return undefined;
  }
  const jiffies = process.userTime + process.systemTime - was.userTime - was.systemTime;
  // A hundredth of a second is a percent of a second.
  return Math.max(0, jiffies / seconds);
}
