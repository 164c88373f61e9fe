/** The columns of a batch; what is in them is anything. */
export interface BatchMemory {
  readonly bytes: Buffer;
  readonly ms: Float64Array;
  readonly ns: Uint32Array;
  readonly ends: Uint32Array;
  readonly meta: Uint32Array;
}

const mostKept = 32;
const largestKept = 1024 * 1024;
const free: BatchMemory[] = [];

/** Memory of an earlier batch when there is some: to get it anew, cleared, for every push, and to have it collected, costs more than to fill it. */
export function takeMemory(bytes: number, entries: number): BatchMemory {
  const found = free.findLastIndex((memory) => memory.bytes.length >= bytes && memory.ms.length >= entries);
  if (found >= 0) {
    return free.splice(found, 1)[0]!;
  }
  const rounded = bytes === 0 ? 0 : Math.max(bytes, Math.min(2 ** Math.ceil(Math.log2(bytes)), largestKept));
  return {
    bytes: Buffer.allocUnsafeSlow(rounded),
    ms: new Float64Array(entries),
    ns: new Uint32Array(entries),
    ends: new Uint32Array(entries),
    meta: new Uint32Array(entries),
  };
}

/** For the next batch; nobody may look at it any more. */
export function giveMemory({ bytes, ms, ns, ends, meta }: BatchMemory): void {
  if (bytes.length + ms.length * 20 > largestKept * 2 || bytes.length === 0) {
    return;
  }
  if (free.length === mostKept) {
    free.shift();
  }
  free.push({ bytes, ms, ns, ends, meta });
}
