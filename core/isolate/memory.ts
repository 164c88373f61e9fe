import { readFileSync } from 'node:fs';

/** Resident memory of a process in bytes; undefined where `/proc` does not tell, or when it is gone. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    // Between its end and the exit event a process has no status any more.
    return undefined;
  }
}
