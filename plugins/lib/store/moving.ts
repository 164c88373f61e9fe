/**
 * The memory of these bytes, as the `transfer` of a call to a thread wants it: instead of being copied they move, and whoever had
 * them has them no more. Nothing where others may have a part of that memory, as it is with small buffers of node.
 */
export const memoryOf = ({ buffer, byteLength }: Uint8Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
