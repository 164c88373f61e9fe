import type { MachineFiles } from 'svc/probe';

/** Details of a process besides its stat. A part that we may not read is undefined. */
export interface ProcessDetail {
  readonly voluntarySwitches: number | undefined;
  readonly otherSwitches: number | undefined;
  readonly swappedBytes: number | undefined;
  readonly openFiles: number | undefined;
  /** The soft limit. */
  readonly maxFiles: number | undefined;
  readonly readBytes: number | undefined;
  readonly writtenBytes: number | undefined;
}

const maxCounted = 100_000;

export function readDetail(
  files: MachineFiles,
  pid: number,
  wanted: { readonly files: boolean; readonly io: boolean },
): ProcessDetail {
  const status = files.text(`/proc/${pid}/status`, 8_192) ?? '';
  const io = wanted.io ? (files.text(`/proc/${pid}/io`, 4_096) ?? '') : '';
  const limits = wanted.files ? (files.text(`/proc/${pid}/limits`, 8_192) ?? '') : '';
  const swapped = number(/^VmSwap:\s+(\d+) kB/m, status);
  return {
    voluntarySwitches: number(/^voluntary_ctxt_switches:\s+(\d+)/m, status),
    otherSwitches: number(/^nonvoluntary_ctxt_switches:\s+(\d+)/m, status),
    swappedBytes: swapped === undefined ? undefined : swapped * 1024,
    openFiles: wanted.files ? openFilesOf(files, pid) : undefined,
    maxFiles: number(/^Max open files\s+(\d+)/m, limits),
    readBytes: number(/^read_bytes: (\d+)/m, io),
    writtenBytes: number(/^write_bytes: (\d+)/m, io),
  };
}

/**
 * Returns the number of open files: since Linux 6.2 the folder's size states it; before that, they
 * are counted.
 */
function openFilesOf(files: MachineFiles, pid: number): number | undefined {
  const folder = `/proc/${pid}/fd`;
  const size = files.size(folder);
  return size !== undefined && size > 0 && files.root === '/'
    ? size
    : files.count(folder, maxCounted);
}

function number(pattern: RegExp, text: string): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
