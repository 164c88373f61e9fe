/** Names and values of a series. */
export type Labels = Readonly<Record<string, string>>;

/** Bytes of a double, a time of today in milliseconds, and what precedes them. */
const sampleBytes = 18;
const literalBytes = 65_536;

/** Bytes of one message `TimeSeries` of Prometheus remote write 1, with its tag; what is no number is left out. */
export function timeSeries(
  labels: Labels,
  values: Float64Array,
  { end, stepMs }: { readonly end: number; readonly stepMs: number },
): Buffer {
  const names = Object.keys(labels)
    .filter((name) => labels[name] !== '')
    .sort();
  const named = Buffer.concat(
    names.map((name) => field(1, Buffer.concat([text(1, name), text(2, labels[name]!)]))),
  );
  const told = Buffer.allocUnsafe(values.length * sampleBytes);
  let at = 0;
  values.forEach((value, step) => {
    if (!Number.isNaN(value)) {
      const time = varint(end - (values.length - 1 - step) * stepMs);
      told[at] = 0x12;
      told[at + 1] = 10 + time.length;
      told[at + 2] = 0x09;
      told.writeDoubleLE(value, at + 3);
      told[at + 11] = 0x10;
      at += 12 + time.copy(told, at + 12);
    }
  });
  return field(1, Buffer.concat([named, told.subarray(0, at)]));
}

/** The bytes as snappy that compresses nothing. */
export function snappyLiterals(body: Buffer): Buffer {
  const parts: Buffer[] = [varint(body.length)];
  for (let at = 0; at < body.length; at += literalBytes) {
    const part = body.subarray(at, at + literalBytes);
    const head = Buffer.from([61 << 2, 0, 0]);
    head.writeUInt16LE(part.length - 1, 1);
    parts.push(head, part);
  }
  return Buffer.concat(parts);
}

const field = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([number * 8 + 2]), varint(bytes.length), bytes]);
const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) {
    bytes.push((left % 0x80) | 0x80);
  }
  return Buffer.from([...bytes, left]);
}
