const furthest = 65_535;
const slotBits = 14;

/** Packs in snappy's block format, with memory for looking back that is used again for the next block. */
export function snappyBlock(): (input: Uint8Array) => Uint8Array {
  const seen = new Int32Array(1 << slotBits);
  return (input) => packed(input, seen.fill(-1));
}

/** One look back per position; whatever came before within reach is copied in steps of up to 64 bytes. */
function packed(input: Uint8Array, seen: Int32Array): Uint8Array {
  // A copy of three bytes replaces at least four, a run of literals takes three more than it
  // contains.
  const output = new Uint8Array(16 + input.length + Math.ceil(input.length / 4));
  let to = 0;
  for (let rest = input.length; ; rest = Math.floor(rest / 128)) {
    output[to++] = rest > 0x7f ? (rest % 128) | 0x80 : rest;
    if (rest <= 0x7f) {
      break;
    }
  }
  let pending = 0;
  const literals = (end: number): void => {
    for (; pending < end; pending += 0x10000) {
      const size = Math.min(end - pending, 0x10000);
      output[to++] = size <= 60 ? (size - 1) << 2 : 61 << 2;
      if (size > 60) {
        output[to++] = (size - 1) & 0xff;
        output[to++] = (size - 1) >> 8;
      }
      output.set(input.subarray(pending, pending + size), to);
      to += size;
    }
    pending = end;
  };
  for (let at = 0; at + 4 <= input.length;) {
    const word =
      input[at]! | (input[at + 1]! << 8) | (input[at + 2]! << 16) | (input[at + 3]! << 24);
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - slotBits);
    const before = seen[slot]!;
    seen[slot] = at;
    const size = before >= 0 && at - before <= furthest ? alike(input, before, at) : 0;
    if (size < 4) {
      at++;
      continue;
    }
    literals(at);
    output[to++] = 2 | ((size - 1) << 2);
    output[to++] = (at - before) & 0xff;
    output[to++] = (at - before) >> 8;
    at += size;
    pending = at;
  }
  literals(input.length);
  return output.slice(0, to);
}

function alike(input: Uint8Array, a: number, b: number): number {
  const most = Math.min(64, input.length - b);
  let size = 0;
  while (size < most && input[a + size] === input[b + size]) {
    size++;
  }
  return size;
}
