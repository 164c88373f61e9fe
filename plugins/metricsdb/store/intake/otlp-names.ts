/** Units as OTLP writes them, with their words in metric names. */
const units: ReadonlyMap<string, string> = new Map([
  ['d', 'days'],
  ['h', 'hours'],
  ['min', 'minutes'],
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
  ['us', 'microseconds'],
  ['ns', 'nanoseconds'],
  ['By', 'bytes'],
  ['KiBy', 'kibibytes'],
  ['MiBy', 'mebibytes'],
  ['GiBy', 'gibibytes'],
  ['TiBy', 'tebibytes'],
  ['KBy', 'kilobytes'],
  ['MBy', 'megabytes'],
  ['GBy', 'gigabytes'],
  ['TBy', 'terabytes'],
  ['m', 'meters'],
  ['V', 'volts'],
  ['A', 'amperes'],
  ['J', 'joules'],
  ['W', 'watts'],
  ['g', 'grams'],
  ['Cel', 'celsius'],
  ['Hz', 'hertz'],
  ['%', 'percent'],
]);

const times: ReadonlyMap<string, string> = new Map([
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['w', 'week'],
  ['mo', 'month'],
  ['y', 'year'],
]);

/** Parts of a metric name; only the kinds `gauge` and `counter` affect it. */
interface NameParts {
  readonly name: string;
  readonly unit: string;
  readonly kind: string;
}

/** The name that Prometheus' conventions give a metric: no dots, the unit behind it, `_total` on what only grows. */
export function metricNameOf({ name, unit, kind }: NameParts): string {
  const words = name.split(/[^a-zA-Z0-9:]+/).filter((word) => word !== '');
  for (const word of unitWords(unit)) {
    if (!words.includes(word)) {
      words.push(word);
    }
  }
  if (unit === '1' && kind === 'gauge' && !words.includes('ratio')) {
    words.push('ratio');
  }
  if (kind === 'counter') {
    words.splice(0, words.length, ...words.filter((word) => word !== 'total'), 'total');
  }
  const joined = words.join('_');
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

function unitWords(unit: string): string[] {
  const [main = '', per] = unit
    .replaceAll(/\{[^}]*\}/g, '')
    .split('/', 2)
    .map((part) => part.trim());
  const words = main === '' || main === '1' ? [] : [units.get(main) ?? main];
  const clean = words
    .map((word) => word.replaceAll(/[^a-zA-Z0-9]+/g, '_').replaceAll(/^_+|_+$/g, ''))
    .filter((word) => word !== '');
  if (per === undefined || per === '') {
    return clean;
  }
  const perWord = (times.get(per) ?? units.get(per) ?? per)
    .replaceAll(/[^a-zA-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return perWord === '' ? clean : [...clean, 'per', perWord];
}

/** A label name for the key of an attribute. */
export function labelNameOf(key: string): string {
  const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  return /^\d/.test(name) ? `key_${name}` : name;
}
