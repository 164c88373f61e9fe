import { maxMessageBytes } from './limits.ts';

/** Every message begins with it: type, flags, two bytes of zero, id, n; big endian. */
export const headerBytes = 12;

export const frameType = {
  hello: 1,
  challenge: 2,
  auth: 3,
  authOk: 4,
  ping: 5,
  pong: 6,
  request: 7,
  response: 8,
  event: 9,
  open: 10,
  data: 11,
  credit: 12,
  fin: 13,
  reset: 14,
  goAway: 15,
  cancel: 16,
} as const;

export type FrameType = (typeof frameType)[keyof typeof frameType];

/** Flag of a response whose body is an error. */
export const errorFlag = 2;
/** Flag of a type that the receiver may not know: it is skipped. */
const skippableFlag = 0x80;

const maxDataBytes = 64 * 1024;
const types: ReadonlySet<number> = new Set(Object.values(frameType));
/** Types that are about the connection and not about one call or stream. */
const withoutId: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 9, 15]);
const withoutBody: ReadonlySet<number> = new Set([
  frameType.ping,
  frameType.pong,
  frameType.credit,
  frameType.fin,
  frameType.cancel,
]);

export interface Frame {
  readonly type: FrameType;
  readonly error: boolean;
  readonly id: number;
  /** Bytes granted by a credit; of all other frames the length of the payload. */
  readonly n: number;
  readonly payload: Buffer;
}

/** Error for a side that violates the protocol; it ends the connection, and nothing else. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation';
}

const nothing = Buffer.alloc(0);

export function encodeFrame(
  type: FrameType,
  id: number,
  payload: Uint8Array | string = nothing,
  flags = 0,
): Buffer {
  const length = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.byteLength;
  const bytes = Buffer.allocUnsafe(headerBytes + length);
  writeHeader(bytes, type, flags, id, length);
  if (typeof payload === 'string') {
    bytes.write(payload, headerBytes);
  } else {
    bytes.set(payload, headerBytes);
  }
  return bytes;
}

export function encodeCredit(id: number, granted: number): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes);
  writeHeader(bytes, frameType.credit, 0, id, granted);
  return bytes;
}

function writeHeader(bytes: Buffer, type: number, flags: number, id: number, n: number): void {
  bytes[0] = type;
  bytes[1] = flags;
  bytes[2] = 0;
  bytes[3] = 0;
  bytes.writeUInt32BE(id, 4);
  bytes.writeUInt32BE(n, 8);
}

/** Undefined for a frame that asks to be skipped by those who do not know its type. */
export function decodeFrame(message: string | Uint8Array): Frame | undefined {
  if (typeof message === 'string') {
    throw new ProtocolViolation('a text message');
  }
  if (message.byteLength < headerBytes || message.byteLength > maxMessageBytes) {
    throw new ProtocolViolation(`a message of ${message.byteLength} bytes`);
  }
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const type = bytes[0]!;
  const flags = bytes[1]!;
  if (bytes.readUInt16BE(2) !== 0) {
    throw new ProtocolViolation('reserved bits are set');
  }
  if (!types.has(type)) {
    if ((flags & skippableFlag) !== 0) {
      return undefined;
    }
    throw new ProtocolViolation(`a frame of type ${type}`);
  }
  const id = bytes.readUInt32BE(4);
  const n = bytes.readUInt32BE(8);
  const length = message.byteLength - headerBytes;
  check(type, flags, id, n, length);
  return {
    type: type as FrameType,
    error: flags === errorFlag,
    id,
    n,
    payload: bytes.subarray(headerBytes),
  };
}

function check(type: number, flags: number, id: number, n: number, length: number): void {
  if (flags !== 0 && !(type === frameType.response && flags === errorFlag)) {
    throw new ProtocolViolation(`flags ${flags} on a frame of type ${type}`);
  }
  if ((id === 0) !== withoutId.has(type)) {
    throw new ProtocolViolation(`id ${id} on a frame of type ${type}`);
  }
  if (
    withoutBody.has(type) ? length !== 0 || (type !== frameType.credit && n !== 0) : n !== length
  ) {
    throw new ProtocolViolation(`a payload of ${length} bytes, announced as ${n}`);
  }
  if (type === frameType.data && (length === 0 || length > maxDataBytes)) {
    throw new ProtocolViolation(`${length} bytes of data in one frame`);
  }
}
