/** A finite number as decimal digits: 0.d1d2d3… × 10^point. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

const view = new DataView(new ArrayBuffer(8));

/** All digits of a double, exactly. */
function exact(value: number): Decimal {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  const exponent = Math.max(biased, 1) - 1075;
  const digits = (
    exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent)
  ).toString();
  return mantissa === 0n
    ? { digits: '', point: 0 }
    : { digits, point: digits.length + Math.min(exponent, 0) };
}

/** The fewest digits that read back as the same double. */
function shortest(value: number): Decimal {
  if (value === 0) {
    return { digits: '', point: 0 };
  }
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** Rounds to this many digits, half to even, as Go does. */
function round({ digits, point }: Decimal, keep: number): Decimal {
  if (keep >= digits.length) {
    return { digits, point };
  }
  if (keep < 0) {
    return { digits: '', point: 0 };
  }
  const next = digits[keep]!;
  const tie = next === '5' && /^0*$/.test(digits.slice(keep + 1));
  const up = tie ? keep > 0 && Number(digits[keep - 1]) % 2 === 1 : next >= '5';
  const kept = digits.slice(0, keep);
  if (!up) {
    return { digits: kept.replace(/0+$/, ''), point: kept === '' ? 0 : point };
  }
  const raised = (BigInt(kept || '0') + 1n).toString();
  return raised.length > kept.length
    ? { digits: '1', point: point + 1 }
    : { digits: raised.replace(/0+$/, ''), point };
}

/** A float as Go's strconv writes it; precision -1 is the shortest text that reads back the same. */
export function formatGoFloat(value: number, verb: 'e' | 'f' | 'g', precision = -1): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  }
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  if (verb === 'f') {
    return (
      sign + fixed(precision < 0 ? shortest(size) : roundAt(exact(size), precision), precision)
    );
  }
  if (verb === 'e') {
    return (
      sign +
      scientific(precision < 0 ? shortest(size) : round(exact(size), precision + 1), precision)
    );
  }
  const wanted = precision === 0 ? 1 : precision;
  const decimal = wanted < 0 ? shortest(size) : round(exact(size), wanted);
  const exponent = decimal.point - 1;
  // Go uses six digits if none were requested.
  const enough =
    wanted < 0
      ? 6
      : wanted > decimal.digits.length && decimal.digits.length >= decimal.point
        ? decimal.digits.length
        : wanted;
  return (
    sign +
    (exponent < -4 || exponent >= enough
      ? scientific(decimal, decimal.digits.length - 1)
      : fixed(decimal, Math.max(decimal.digits.length - decimal.point, 0)))
  );
}

function roundAt(decimal: Decimal, places: number): Decimal {
  return round(decimal, decimal.point + places);
}

function fixed({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = '0'.repeat(Math.max(-point, 0)) + digits.slice(Math.max(point, 0));
  const places = precision < 0 ? fraction : fraction.slice(0, precision).padEnd(precision, '0');
  return places === '' ? whole : `${whole}.${places}`;
}

function scientific({ digits, point }: Decimal, precision: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const rest = digits.slice(1).padEnd(Math.max(precision, 0), '0');
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits[0] ?? '0'}${rest === '' ? '' : `.${rest}`}e${exponent < 0 ? '-' : '+'}${size}`;
}
