import { mostMs, type Nanos, parseNanos } from '../store/nanos.ts';

/** An instant as a parameter has it: seconds with a fraction, whole seconds of up to ten digits, nanoseconds, or RFC 3339. */
export function instantOf(text: string): Nanos | undefined {
  if (/^-?\d{1,12}\.\d{0,12}$/.test(text)) {
    const [whole, fraction = ''] = text.replace('-', '').split('.') as [string, string?];
    const nanos = fraction.padEnd(9, '0').slice(0, 9);
    return parseNanos(`${text.startsWith('-') ? '-' : ''}${whole}${nanos}`.replace(/^(-?)0+(?=\d)/, '$1'));
  }
  if (/^-?\d+$/.test(text)) {
    return text.replace('-', '').length <= 10 ? { ms: Number(text) * 1_000, ns: 0 } : parseNanos(text);
  }
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(text);
  if (!parts) {
    return undefined;
  }
  const seconds = Date.parse(`${parts[1]!.toUpperCase()}${parts[3]!.toUpperCase()}`);
  const nanos = Number((parts[2] ?? '').padEnd(9, '0'));
  return Number.isNaN(seconds) || seconds > mostMs ? undefined : { ms: seconds + Math.floor(nanos / 1e6), ns: nanos % 1e6 };
}
