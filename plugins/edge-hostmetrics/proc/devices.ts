/** The numbers of one block device, as many as its kernel has: 11, 15 or 17. */
export interface DiskRow {
  readonly device: string;
  readonly values: readonly number[];
}

/** Number of the milliseconds in which the device was busy. */
export const busyMs = 9;
const fewest = 11;

/** Partitions of very old kernels have four numbers with other meanings; they are left out. */
export function parseDiskstats(text: string): readonly DiskRow[] {
  const rows: DiskRow[] = [];
  for (const line of text.split('\n')) {
    const [, , device, ...values] = line.trim().split(/ +/);
    if (device !== undefined && values.length >= fewest) {
      rows.push({ device, values: values.map(Number) });
    }
  }
  return rows;
}

/** The sixteen numbers of one network device: eight received, eight sent. */
export interface NetworkRow {
  readonly device: string;
  readonly values: readonly number[];
}

export const [receivedBytes, sentBytes] = [0, 8];

/**
 * Parses /proc/net/dev; a colon need not be followed by a space, and a name may contain one itself
 * (`eth0:1`).
 */
export function parseNetdev(text: string): readonly NetworkRow[] {
  const rows: NetworkRow[] = [];
  for (const line of text.split('\n')) {
    const colon = line.lastIndexOf(':');
    const values =
      colon === -1
        ? []
        : line
            .slice(colon + 1)
            .trim()
            .split(/\s+/)
            .map(Number);
    if (values.length >= 16 && values.every(Number.isFinite)) {
      rows.push({ device: line.slice(0, colon).trim(), values });
    }
  }
  return rows;
}

const [wrap, half] = [2 ** 32, 2 ** 31];

/**
 * Returns the growth of a counter. Old kernels and some drivers count in 32 bits: a drop from the
 * upper half of these to the lower is an overflow, any other drop is a reset.
 */
export function growth(before: number, now: number): number {
  if (now >= before) {
    return now - before;
  }
  return before < wrap && before >= half && now < half ? now + wrap - before : now;
}
