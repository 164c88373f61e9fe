import type { MachineFiles } from 'svc/probe';

import { type DiskRow, type NetworkRow, parseDiskstats, parseNetdev } from '../proc/devices.ts';
import { parseMeminfo } from '../proc/memory.ts';
import { type CpuHistory, type CpuTimes, type KernelStat, parseStat } from '../proc/stat.ts';
import type { Filesystem, Filesystems } from './filesystems.ts';
import type { NameFilter } from './name-filter.ts';

/** Host, with what is remembered between two measurements. */
export interface Machine {
  readonly files: MachineFiles;
  readonly filesystems: Filesystems;
  readonly cpuHistory: CpuHistory;
  readonly diskExclude: NameFilter;
  readonly networkExclude: NameFilter;
  readonly pageSize: number;
  /** Architecture as in `uname -m`. */
  readonly architecture: string;
}

/** One look at the machine: what several collectors need is read once, and only when one asks for it. */
export class Moment {
  readonly machine: Machine;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Milliseconds that never jump. */
  readonly monotonic: number;
  readonly #read = new Map<string, unknown>();

  constructor(machine: Machine, time: number, monotonic: number) {
    this.machine = machine;
    this.time = time;
    this.monotonic = monotonic;
  }

  get files(): MachineFiles {
    return this.machine.files;
  }

  stat(): KernelStat {
    return this.#once('stat', () => parseStat(this.files.text('/proc/stat') ?? ''));
  }

  cpus(): ReadonlyMap<string, CpuTimes> {
    return this.#once('cpus', () => this.machine.cpuHistory.grown(this.stat().cpus));
  }

  memory(): ReadonlyMap<string, number> {
    return this.#once('memory', () => parseMeminfo(this.files.text('/proc/meminfo') ?? ''));
  }

  /** Returns the load of one, five and fifteen minutes. */
  load(): readonly number[] {
    return this.#once('load', () =>
      (this.files.text('/proc/loadavg') ?? '')
        .trim()
        .split(' ')
        .slice(0, 3)
        .filter(Boolean)
        .map(Number),
    );
  }

  /** Open files, and how many there may be. */
  fileHandles(): { readonly allocated: number; readonly maximum: number } | undefined {
    return this.#once('files', () => {
      const [allocated, , maximum] = (this.files.text('/proc/sys/fs/file-nr') ?? '')
        .trim()
        .split(/\s+/)
        .map(Number);
      return allocated === undefined || maximum === undefined ? undefined : { allocated, maximum };
    });
  }

  disks(): readonly DiskRow[] {
    return this.#once('disks', () =>
      parseDiskstats(this.files.text('/proc/diskstats') ?? '').filter(
        ({ device }) => !this.machine.diskExclude.excludes(device),
      ),
    );
  }

  network(): readonly NetworkRow[] {
    return this.#once('network', () =>
      parseNetdev(this.files.text('/proc/net/dev') ?? '').filter(
        ({ device }) => !this.machine.networkExclude.excludes(device),
      ),
    );
  }

  filesystems(): Promise<readonly Filesystem[]> {
    return this.#once('filesystems', () => this.machine.filesystems.measure());
  }

  #once<T>(what: string, read: () => T): T {
    if (!this.#read.has(what)) {
      this.#read.set(what, read());
    }
    return this.#read.get(what) as T;
  }
}
