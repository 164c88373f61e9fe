import type { Clock } from 'svc/sdk';
import type { MachineFiles } from '../machine/machine-files.ts';
import { pageSizeOf } from '../machine/page-size.ts';
import type { After } from '../machine/slow-calls.ts';
import { CommandLines, type ReadStart } from './command-lines.ts';
import { type ListParams, listProcesses } from './process-list.ts';
import { type Scan, scanProcesses } from './process-table.ts';

export interface ProcessWatchPorts {
  readonly files: MachineFiles;
  readonly clock: Clock;
  readonly after: After;
  readonly readStart?: ReadStart;
}

/** A scan can be compared with one that is neither too near, for the kernel counts in hundredths of a second, nor too old to mean now. */
const [nearestMs, oldestMs] = [500, 90_000];

/** The processes of this machine, scanned now and then; a list compares with the last scan. */
export class ProcessWatch {
  readonly #ports: ProcessWatchPorts;
  readonly pageSize: number;
  readonly commandLines: CommandLines;
  #last: Scan | undefined;

  constructor(ports: ProcessWatchPorts) {
    this.#ports = ports;
    this.pageSize = pageSizeOf(ports.files);
    this.commandLines = new CommandLines(ports.files, ports.after, ports.readStart);
  }

  async scan(): Promise<Scan> {
    const scan = await scanProcesses(this.#ports.files, this.#ports.clock, () => this.pause(0));
    this.#last = scan;
    return scan;
  }

  async list(
    params: ListParams,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<typeof listProcesses>>> {
    const { files } = this.#ports;
    return listProcesses(
      params,
      {
        files,
        commandLines: this.commandLines,
        pageSize: this.pageSize,
        scans: (ended) => this.#scans(ended),
      },
      signal,
    );
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#ports.after(ms, resolve));
  }

  /** Against the last scan where that can be; else against one of this moment, after a little while. */
  async #scans(signal: AbortSignal): Promise<{ before: Scan; now: Scan }> {
    let before = this.#last;
    const age = before === undefined ? Infinity : this.#ports.clock.monotonic() - before.monotonic;
    if (before === undefined || age < nearestMs || age > oldestMs) {
      before = await this.scan();
      await this.pause(nearestMs);
      signal.throwIfAborted();
    }
    return { before, now: await this.scan() };
  }
}
