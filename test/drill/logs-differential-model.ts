/** One event, and what a line of each format tells of it. Lines are made from these; answers are worked out from these, and never from a line. */
export interface Event {
  readonly ms: number;
  readonly app: string;
  readonly format: Format;
  /** Undefined where the line is broken: nothing can be read out of it. */
  readonly fields: Readonly<Record<Field, string>> | undefined;
  readonly line: string;
}

export type Format = 'nginx' | 'json' | 'logfmt' | 'plain' | 'java';
export type Field = 'level' | 'status' | 'took' | 'size' | 'path';

export const formats: readonly Format[] = ['nginx', 'json', 'logfmt', 'plain', 'java'];
export const apps = ['api', 'web', 'worker'];
export const levels = ['debug', 'info', 'warn', 'error'];
export const statuses = ['200', '201', '304', '404', '500', '503'];
export const paths = ['/', '/a', '/a/b', '/a/c?x=1', '/login'];
export const words = ['timeout', 'retry', 'cache', 'naïve'];

/** The stage that reads the fields of a format. */
export const parsers: Readonly<Record<Format, string>> = {
  nginx: '| pattern `<_> - - [<level>] "GET <path> HTTP/1.1" <status> <size> <took> <_>`',
  json: '| json',
  logfmt: '| logfmt',
  plain:
    '| regexp `^\\[(?P<level>\\w+)\\] (?P<status>\\d+) in (?P<took>[\\d.]+) of (?P<size>\\d+) at (?P<path>\\S+) `',
  java: '| regexp `(?s)^(?P<level>[a-z]+) com\\.example\\.Servlet: (?P<status>\\d+) (?P<path>\\S+) took (?P<took>[\\d.]+) size (?P<size>\\d+).*`',
};

/** Values of numbers that floats hold exactly when they are added up in any order. */
export type Random = (below: number) => number;

export function eventAt(ms: number, random: Random): Event {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const format = pick(formats);
  const fields = {
    level: pick(levels),
    status: pick(statuses),
    took: String(random(4_000) / 4),
    size: String(random(10_000)),
    path: pick(paths),
  };
  const broken = format === 'json' && random(20) === 0;
  return {
    ms,
    app: pick(apps),
    format,
    fields: broken ? undefined : fields,
    line: broken ? `{"level": broken ${pick(words)}` : lineOf(format, fields, pick(words)),
  };
}

function lineOf(
  format: Format,
  { level, status, took, size, path }: Readonly<Record<Field, string>>,
  word: string,
): string {
  switch (format) {
    case 'nginx':
      return `10.0.0.1 - - [${level}] "GET ${path} HTTP/1.1" ${status} ${size} ${took} ${word}`;
    case 'json':
      return JSON.stringify({
        level,
        status: Number(status),
        took: Number(took),
        size: Number(size),
        path,
        note: word,
      });
    case 'logfmt':
      return `level=${level} status=${status} took=${took} size=${size} path="${path}" note="a ${word} b"`;
    case 'plain':
      return `[${level}] ${status} in ${took} of ${size} at ${path} ${word}`;
    case 'java':
      return `${level} com.example.Servlet: ${status} ${path} took ${took} size ${size}\n\tat com.example.A.b(A.java:12) ${word}\n\tat java.lang.Thread.run`;
  }
}

/** A question in the language, and its answer by label sets, worked out from the events. */
export interface Question {
  readonly query: string;
  readonly at: number;
  answer(events: readonly Event[]): Map<string, number>;
}

type Row = Event & { readonly fields: Readonly<Record<Field, string>> };
type Fold = (values: readonly number[], seconds: number) => number;

const sum: Fold = (values) => values.reduce((total, value) => total + value, 0);
const mean: Fold = (values) => sum(values, 1) / values.length;
const variance: Fold = (values) =>
  mean(
    values.map((value) => (value - mean(values, 1)) ** 2),
    1,
  );
const quantile =
  (q: number): Fold =>
  (values) => {
    const order = values.toSorted((a, b) => a - b);
    const rank = q * (order.length - 1);
    const low = order[Math.floor(rank)]!;
    return (
      low +
      (order[Math.min(order.length - 1, Math.floor(rank) + 1)]! - low) * (rank - Math.floor(rank))
    );
  };

/** Folds over the numbers in a label, in order of time. */
const unwrapped: readonly (readonly [text: (lines: string) => string, fold: Fold])[] = [
  [(lines) => `sum_over_time(${lines})`, sum],
  [(lines) => `avg_over_time(${lines})`, mean],
  [(lines) => `min_over_time(${lines})`, (values) => Math.min(...values)],
  [(lines) => `max_over_time(${lines})`, (values) => Math.max(...values)],
  [(lines) => `stdvar_over_time(${lines})`, variance],
  [
    (lines) => `stddev_over_time(${lines})`,
    (values, seconds) => Math.sqrt(variance(values, seconds)),
  ],
  [(lines) => `first_over_time(${lines})`, (values) => values[0]!],
  [(lines) => `last_over_time(${lines})`, (values) => values.at(-1)!],
  [(lines) => `quantile_over_time(0.9, ${lines})`, quantile(0.9)],
  [(lines) => `quantile_over_time(0.5, ${lines})`, quantile(0.5)],
];

/** Folds over the lines themselves. */
const counting: readonly (readonly [name: string, value: (event: Event) => number, fold: Fold])[] =
  [
    ['count_over_time', () => 1, sum],
    ['rate', () => 1, (values, seconds) => sum(values, 1) / seconds],
    ['bytes_over_time', ({ line }) => Buffer.byteLength(line), sum],
    [
      'bytes_rate',
      ({ line }) => Buffer.byteLength(line),
      (values, seconds) => sum(values, 1) / seconds,
    ],
  ];

const compare: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

export function questionFrom(start: number, end: number, random: Random): Question {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const format = pick(formats);
  const tests: ((row: Row) => boolean)[] = [];
  let selector = `{format="${format}"`;
  if (random(2) === 0) {
    const wanted = pick([['api'], ['api', 'web'], ['worker', 'none']]);
    selector += `, app=~"${wanted.join('|')}"`;
    tests.push(({ app }) => wanted.includes(app));
  }
  let pipeline = `${selector}}`;
  if (random(3) === 0) {
    const word = pick(words);
    const without = random(3) === 0;
    pipeline += ` ${without ? '!=' : '|='} "${word}"`;
    tests.push(({ line }) => line.includes(word) !== without);
  }
  pipeline += ` ${parsers[format]} | __error__=""`;
  for (let i = random(3); i > 0; i--) {
    const [text, test] = pick([filterOnNumber, filterOnText, filterOnPattern])(pick, random);
    pipeline += ` | ${text}`;
    tests.push(test);
  }
  const seconds = pick([30, 60, 300, 900, 3_600]);
  const offset = random(4) === 0 ? pick([10, 120]) : 0;
  const at = start + random(end - start + 60_000);
  const by = pick<readonly ('app' | Field)[]>([
    ['app'],
    ['level'],
    ['app', 'status'],
    ['path'],
    [],
  ]);
  const window = `[${seconds}s]${offset === 0 ? '' : ` offset ${offset}s`}`;
  const inside = (event: Event): event is Row =>
    event.format === format &&
    event.fields !== undefined &&
    event.ms > at - (offset + seconds) * 1_000 &&
    event.ms <= at - offset * 1_000 &&
    tests.every((test) => test(event as Row));
  const label = ({ app, fields }: Row, name: 'app' | Field): string =>
    name === 'app' ? app : fields[name];
  const grouped = (
    events: readonly Event[],
    value: (row: Row) => number,
    fold: Fold,
  ): Map<string, number> => {
    const groups = new Map<string, number[]>();
    for (const row of events.filter(inside)) {
      const key = by
        .toSorted()
        .map((name) => `${name}=${label(row, name)}`)
        .join();
      groups.set(key, [...(groups.get(key) ?? []), value(row)]);
    }
    return new Map([...groups].map(([key, values]) => [key, fold(values, seconds)]));
  };
  if (random(2) === 0) {
    const field = pick(['took', 'size'] as const);
    const [text, fold] = pick(unwrapped);
    const call = text(`${pipeline} | unwrap ${field} ${window}`);
    // A sum takes its grouping around it, the others at their end.
    const query = call.startsWith('sum_over_time')
      ? `sum by (${by.join(', ')}) (${call})`
      : `${call} by (${by.join(', ')})`;
    return {
      query,
      at,
      answer: (events) => grouped(events, ({ fields }) => Number(fields[field]), fold),
    };
  }
  const [name, value, fold] = pick(counting);
  return {
    query: `sum by (${by.join(', ')}) (${name}(${pipeline} ${window}))`,
    at,
    answer: (events) => grouped(events, value, fold),
  };
}

type Filter = (
  pick: <T>(list: readonly T[]) => T,
  random: Random,
) => readonly [text: string, test: (row: Row) => boolean];

const filterOnNumber: Filter = (pick, random) => {
  const [field, wanted] = pick([
    ['status', Number(pick(statuses))],
    ['took', random(1_000)],
    ['size', random(10_000)],
  ] as const);
  const sign = pick(Object.keys(compare));
  return [
    `${field} ${sign} ${wanted}`,
    ({ fields }) => compare[sign]!(Number(fields[field]), wanted),
  ];
};

const filterOnText: Filter = (pick, random) => {
  const level = pick(levels);
  return random(3) === 0
    ? [`level != "${level}"`, ({ fields }) => fields.level !== level]
    : [`level = "${level}"`, ({ fields }) => fields.level === level];
};

const filterOnPattern: Filter = (pick) =>
  pick<readonly [string, (row: Row) => boolean]>([
    ['path =~ "/a(/b)?"', ({ fields }) => fields.path === '/a' || fields.path === '/a/b'],
    ['status !~ "[45].."', ({ fields }) => !/^[45]..$/.test(fields.status)],
    [
      '(level = "warn" or status = 500)',
      ({ fields }) => fields.level === 'warn' || fields.status === '500',
    ],
  ]);
