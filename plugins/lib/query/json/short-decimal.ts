const zero = 0x30;
const dot = 0x2e;
const minus = 0x2d;
const zeroDot = 0x302e;
/** Four digits as one number, by their value. */
const fours = Uint32Array.from(
  { length: 10_000 },
  (_, four) =>
    0x30303030 +
    Math.floor(four / 1_000) * 0x1000000 +
    (Math.floor(four / 100) % 10) * 0x10000 +
    (Math.floor(four / 10) % 10) * 0x100 +
    (four % 10),
);

/** Powers of ten that doubles hold exactly, and their halves for exact products. */
const powers = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const splitter = 2 ** 27 + 1;
const highs = powers.map((power) => splitter * power - (splitter * power - power));
const lows = powers.map((power, at) => power - highs[at]!);
/**
 * Distance above which values are distinguished by the arithmetic below, whose error is less than
 * 1e-7.
 */
const doubt = 1e-6;
const least = 1e-6;
const most = 1e15;

/**
 * Half the distance to the next double and the decimal exponent of the smallest such number, by
 * biased binary exponent.
 */
const halfSteps = Float64Array.from(
  { length: 2_047 },
  (_, exponent) => 2 ** (exponent - 1_023 - 53),
);
const decimals = Int8Array.from({ length: 2_047 }, (_, exponent) => {
  const power = 2 ** (exponent - 1_023);
  return power >= least / 2 && power < most ? Math.floor(Math.log10(power) + 1e-9) : 0;
});
const asNumber = new Float64Array(1);
const asHalves = new Uint32Array(asNumber.buffer);
const high = new Uint8Array(Float64Array.of(1).buffer)[7] === 0x3f ? 1 : 0;

/**
 * Writes the shortest decimal that reads as `value`, of several the nearest, and returns the end
 * position; -1, with nothing of use written, if an exponent or more exact arithmetic is needed. It
 * needs room for 28 bytes.
 *
 * The value times a power of ten that leaves 17 digits before the point is known exactly as the sum
 * of two doubles. A decimal reads as the value if it lies nearer to that product than half the
 * distance between doubles.
 */
export function writeShortDecimal(out: DataView, at: number, value: number): number {
  const magnitude = value < 0 ? -value : value;
  if (!(magnitude >= least && magnitude < most)) {
    return -1;
  }
  asNumber[0] = magnitude;
  const top = asHalves[high]!;
  if ((top & 0xfffff) === 0 && asHalves[1 - high] === 0) {
    // A power of two: the double below is nearer than the one above.
    return -1;
  }
  const exponent = top >>> 20;
  let decimal = decimals[exponent]!;
  if (decimal >= -1 ? magnitude >= powers[decimal + 1]! : magnitude * powers[-decimal - 1]! >= 1) {
    decimal++;
  }
  const power = 16 - decimal;
  const times = powers[power]!;
  const product = magnitude * times;
  const blurred = splitter * magnitude;
  const front = blurred - (blurred - magnitude);
  const back = magnitude - front;
  const rest =
    front * highs[power]! -
    product +
    front * lows[power]! +
    back * highs[power]! +
    back * lows[power]!;
  let upper = Math.floor(product / 1e8);
  let lower = product - upper * 1e8 + rest;
  if (lower < 0) {
    upper--;
    lower += 1e8;
  }
  const reach = halfSteps[exponent]! * times;
  let digits = nearest(lower, 100, reach);
  if (digits === -1) {
    digits = nearest(lower, 10, reach);
    if (digits === -1) {
      digits = nearest(lower, 1, reach);
    }
  }
  if (digits < 0) {
    return -1;
  }
  if (digits >= 1e8) {
    digits -= 1e8;
    upper++;
  }
  if (upper >= 1e9 || upper < 1e8) {
    return -1;
  }
  let end = at;
  if (value < 0) {
    out.setUint8(end++, minus);
  }
  return writeDigits(out, end, upper | 0, digits | 0, decimal);
}

/**
 * Returns the multiple of `unit` next to `lower` if it is within reach, -1 if there is none, -2 if
 * in doubt.
 */
function nearest(lower: number, unit: number, reach: number): number {
  const scaled = lower / unit;
  const below = Math.floor(scaled);
  const part = scaled - below;
  const away = (part > 0.5 ? 1 - part : part) * unit;
  if (away > reach + doubt) {
    return -1;
  }
  if (away > reach - doubt || (part > 0.5 - doubt && part < 0.5 + doubt)) {
    return -2;
  }
  return (part > 0.5 ? below + 1 : below) * unit;
}

/** Nine digits and eight, the first of them at 10^decimal, without zeros behind the last. */
function writeDigits(
  out: DataView,
  from: number,
  upper: number,
  lower: number,
  decimal: number,
): number {
  let at = from;
  if (decimal < 0) {
    out.setUint16(at, zeroDot);
    at += 2;
    for (let i = -1; i > decimal; i--) {
      out.setUint8(at++, zero);
    }
    writeNine(out, at, upper);
    return stripped(out, lower === 0 ? at + 9 : writeEight(out, at + 9, lower), at);
  }
  // One further than they belong: those before the point are moved back, and it takes the place of the last of them.
  at++;
  const point = at + decimal;
  writeNine(out, at, upper);
  let end = at + 9;
  if (lower !== 0 || decimal > 8) {
    end = writeEight(out, end, lower);
  }
  for (let i = from; i < point; i++) {
    out.setUint8(i, out.getUint8(i + 1));
  }
  out.setUint8(point, dot);
  end = stripped(out, end, point + 1);
  return end === point + 1 ? point : end;
}

function stripped(out: DataView, from: number, least: number): number {
  let end = from;
  while (end > least && out.getUint8(end - 1) === zero) {
    end--;
  }
  return end;
}

function writeNine(out: DataView, at: number, nine: number): void {
  const front = (nine / 1e4) | 0;
  const first = (front / 1e4) | 0;
  out.setUint8(at, zero + first);
  out.setUint32(at + 1, fours[front - first * 10_000]!);
  out.setUint32(at + 5, fours[nine - front * 10_000]!);
}

function writeEight(out: DataView, at: number, eight: number): number {
  const front = (eight / 1e4) | 0;
  out.setUint32(at, fours[front]!);
  out.setUint32(at + 4, fours[eight - front * 10_000]!);
  return at + 8;
}
