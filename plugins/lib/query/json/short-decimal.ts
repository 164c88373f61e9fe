const zero = 0x30;
const dot = 0x2e;
const minus = 0x2d;

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
 * position; -1, with nothing written, if an exponent or more exact arithmetic is needed. `bytes`
 * needs capacity for 26.
 *
 * The value times a power of ten that leaves 17 digits before the point is known exactly as the sum
 * of two doubles. A decimal reads as the value if it lies nearer to that product than half the
 * distance between doubles.
 */
export function writeShortDecimal(bytes: Uint8Array, at: number, value: number): number {
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
    bytes[end++] = minus;
  }
  return writeDigits(bytes, end, upper | 0, digits | 0, decimal);
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
  bytes: Uint8Array,
  from: number,
  upper: number,
  lower: number,
  decimal: number,
): number {
  let at = from;
  if (decimal < 0) {
    bytes[at++] = zero;
    bytes[at++] = dot;
    for (let i = -1; i > decimal; i--) {
      bytes[at++] = zero;
    }
    writeNine(bytes, at, upper);
    return stripped(bytes, lower === 0 ? at + 9 : writeEight(bytes, at + 9, lower), at);
  }
  const point = at + decimal + 1;
  writeNine(bytes, at, upper);
  let end = at + 9;
  if (lower !== 0 || decimal > 8) {
    end = writeEight(bytes, end, lower);
  }
  end = stripped(bytes, end, point);
  if (end > point) {
    bytes.copyWithin(point + 1, point, end);
    bytes[point] = dot;
    end++;
  }
  return end;
}

function stripped(bytes: Uint8Array, from: number, least: number): number {
  let end = from;
  while (end > least && bytes[end - 1] === zero) {
    end--;
  }
  return end;
}

function writeNine(bytes: Uint8Array, at: number, nine: number): void {
  const front = (nine / 1e4) | 0;
  writeFour(bytes, at + 5, nine - front * 10_000);
  const first = (front / 1e4) | 0;
  writeFour(bytes, at + 1, front - first * 10_000);
  bytes[at] = zero + first;
}

function writeEight(bytes: Uint8Array, at: number, eight: number): number {
  const front = (eight / 1e4) | 0;
  writeFour(bytes, at, front);
  writeFour(bytes, at + 4, eight - front * 10_000);
  return at + 8;
}

function writeFour(bytes: Uint8Array, at: number, four: number): void {
  const hundreds = (four / 100) | 0;
  const thousands = (hundreds / 10) | 0;
  const units = four - hundreds * 100;
  const tens = (units / 10) | 0;
  bytes[at] = zero + thousands;
  bytes[at + 1] = zero + hundreds - thousands * 10;
  bytes[at + 2] = zero + tens;
  bytes[at + 3] = zero + units - tens * 10;
}
