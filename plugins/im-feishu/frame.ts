/** A frame of the long connection: a small protobuf message with headers as pairs of text. */
export interface Frame {
  readonly seq: bigint;
  readonly log: bigint;
  readonly service: number;
  readonly method: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

const maxHeaders = 64;

/** Undefined for bytes that are no frame. */
export function unpacked(bytes: Uint8Array): Frame | undefined {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  const frame = { seq: 0n, log: 0n, service: 0, method: 0, payload: new Uint8Array() };
  const isWhole = eachField(bytes, (number, value) => {
    if (typeof value === 'bigint') {
      frame.seq = number === 1 ? value : frame.seq;
      frame.log = number === 2 ? value : frame.log;
      frame.service = number === 3 ? Number(value) : frame.service;
      frame.method = number === 4 ? Number(value) : frame.method;
    } else if (number === 5 && Object.keys(headers).length < maxHeaders) {
      const pair: string[] = [];
      eachField(value, (part, text) => {
        pair[part] = typeof text === 'bigint' ? '' : Buffer.from(text).toString('utf8');
      });
      headers[pair[1] ?? ''] = pair[2] ?? '';
    } else if (number === 8) {
      frame.payload = new Uint8Array(value);
    }
  });
  return isWhole ? { ...frame, headers } : undefined;
}

export function packed({ seq, log, service, method, headers, payload }: Frame): Uint8Array {
  const pairs = Object.entries(headers).map(([key, value]) =>
    field(5, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])),
  );
  const numbers = [seq, log, BigInt(service), BigInt(method)].map((value, index) =>
    Buffer.concat([varint(BigInt((index + 1) << 3)), varint(value)]),
  );
  return Buffer.concat([
    ...numbers,
    ...pairs,
    ...(payload.length === 0 ? [] : [field(8, payload)]),
  ]);
}

const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}

/** Numbers and pieces in their order; false where the bytes end too early or hold a kind that is not known. */
function eachField(
  bytes: Uint8Array,
  take: (number: number, value: bigint | Uint8Array) => void,
): boolean {
  let at = 0;
  const number = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n && at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return BigInt.asUintN(64, value);
      }
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = number();
    const value = tag === undefined ? undefined : number();
    if (tag === undefined || value === undefined) {
      return false;
    }
    const kind = Number(tag & 7n);
    if (kind === 0) {
      take(Number(tag >> 3n), value);
    } else if (kind === 2 && at + Number(value) <= bytes.length) {
      take(Number(tag >> 3n), bytes.subarray(at, at + Number(value)));
      at += Number(value);
    } else {
      return false;
    }
  }
  return true;
}
