import type { MachineFiles } from './machine-files.ts';

const pageSizeTag = 6n;
const usual = 4_096;

/**
 * Returns the page size from the auxiliary vector: pairs of a tag and a value, as wide as an
 * address.
 */
export function pageSizeOf(files: MachineFiles): number {
  const bytes = files.bytes('/proc/self/auxv', 4_096);
  if (bytes === undefined) {
    return usual;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 16 <= bytes.length; at += 16) {
    if (view.getBigUint64(at, true) === pageSizeTag) {
      return Number(view.getBigUint64(at + 8, true));
    }
  }
  return usual;
}
