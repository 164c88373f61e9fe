import { type Unit, unitForm } from '../model/units.ts';

/** Our unit for each of Grafana's; of several for one of ours the first is written back. */
const known: Readonly<Record<string, Unit>> = {
  short: 'none',
  '': 'none',
  none: 'none',
  locale: 'none',
  string: 'none',
  sishort: 'none',
  percent: 'percent',
  percentunit: 'ratio',
  bytes: 'bytes',
  decbytes: 'decimal_bytes',
  kbytes: 'suffix:KiB',
  mbytes: 'suffix:MiB',
  gbytes: 'suffix:GiB',
  deckbytes: 'suffix:kB',
  decmbytes: 'suffix:MB',
  decgbytes: 'suffix:GB',
  bits: 'si:bit',
  decbits: 'si:bit',
  binBps: 'bytes_per_second',
  Bps: 'si:B/s',
  KBs: 'suffix:kB/s',
  MBs: 'suffix:MB/s',
  KiBs: 'suffix:KiB/s',
  MiBs: 'suffix:MiB/s',
  bps: 'bits_per_second',
  binbps: 'bits_per_second',
  Kbits: 'suffix:kbit/s',
  Mbits: 'suffix:Mbit/s',
  ops: 'per_second',
  reqps: 'si:req/s',
  rps: 'si:rd/s',
  wps: 'si:wr/s',
  iops: 'si:io/s',
  eps: 'si:evt/s',
  cps: 'si:c/s',
  pps: 'si:p/s',
  mps: 'si:msg/s',
  opm: 'si:ops/min',
  rpm: 'si:rd/min',
  wpm: 'si:wr/min',
  cpm: 'si:c/min',
  ns: 'nanoseconds',
  µs: 'microseconds',
  ms: 'milliseconds',
  dtdurationms: 'milliseconds',
  s: 'seconds',
  dtdurations: 'seconds',
  dthms: 'seconds',
  clocks: 'seconds',
  m: 'minutes',
  h: 'hours',
  d: 'days',
  hertz: 'hertz',
  rothz: 'hertz',
  rotrpm: 'suffix:rpm',
  celsius: 'celsius',
  fahrenheit: 'suffix:°F',
  kelvin: 'suffix:K',
  humidity: 'suffix:% humidity',
  watt: 'si:W',
  kwatt: 'suffix:kW',
  watth: 'si:Wh',
  kwatth: 'suffix:kWh',
  joule: 'si:J',
  volt: 'si:V',
  mvolt: 'suffix:mV',
  amp: 'si:A',
  mamp: 'suffix:mA',
  dB: 'suffix:dB',
  dBm: 'suffix:dBm',
  pressurehpa: 'suffix:hPa',
  pressurembar: 'suffix:mbar',
  lengthm: 'si:m',
  currencyUSD: 'prefix:$',
  currencyEUR: 'prefix:€',
  currencyGBP: 'prefix:£',
  dateTimeAsIso: 'date',
  dateTimeAsLocal: 'date',
  dateTimeAsSystem: 'date',
  dateTimeAsIsoNoDateIfToday: 'date',
  dateTimeAsUS: 'date',
  dateTimeFromNow: 'date',
  bool_yes_no: 'boolean',
  bool: 'boolean',
  bool_on_off: 'on_off',
};

/** Grafana itself shows a name that it does not know behind the value. */
export function unitOfName(name: string): Unit {
  if (Object.hasOwn(known, name)) {
    return known[name]!;
  }
  const made = /^(?:si|suffix|prefix):/.test(name) ? name : `suffix:${name.slice(0, 30)}`;
  return unitForm.test(made) ? (made as Unit) : 'none';
}

const names = new Map<Unit, string>();
for (const [name, unit] of Object.entries(known)) {
  if (!names.has(unit)) {
    names.set(unit, name);
  }
}

/** Returns the name by which Grafana knows a unit; its clock for dates counts milliseconds. */
export const nameOfUnit = (unit: Unit): string =>
  unit === 'timestamp' ? 'dateTimeFromNow' : (names.get(unit) ?? unit);
