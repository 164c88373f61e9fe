const leastBytes = 1_024;

/** Lines on their way to the disk. As bytes at once: kept as text they would be in the way of the garbage collector, and all be turned into bytes at one time. */
export function createPage() {
  let bytes = Buffer.alloc(0);
  let length = 0;
  /** What the last one came to, and a bit more. */
  let usual = leastBytes;
  return {
    get length() {
      return length;
    },
    /** Says how many bytes it has become. */
    add(line: string): number {
      const more = Buffer.byteLength(line);
      if (length + more > bytes.length) {
        const wider = Buffer.allocUnsafeSlow(Math.max(usual, 2 * length, length + more));
        wider.set(bytes.subarray(0, length));
        bytes = wider;
      }
      bytes.write(line, length);
      length += more;
      return more;
    },
    /** All there is; what comes next is written elsewhere. */
    take(): Uint8Array {
      const taken = bytes.subarray(0, length);
      usual = Math.max(leastBytes, length + (length >> 3));
      bytes = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
