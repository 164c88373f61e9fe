export type Random = (below: number) => number;

export const stepMs = 15_000;

const hosts = ['a', 'b', 'c', 'd'];
const zones = ['east', 'west'];
const bounds = ['0.1', '0.5', '1', '5', '+Inf'];

type Labels = readonly (readonly [name: string, value: string])[];

/** Gauges, counters and the buckets of histograms, labels in order. */
export const seriesOf: readonly Labels[] = hosts.flatMap((host, at): Labels[] => {
  const own = [
    ['host', host],
    ['zone', zones[at % 2]!],
  ] as const;
  return [
    [['__name__', 'temperature'], ...own],
    [['__name__', 'work_total'], ...own],
    [['__name__', 'errors_total'], ...own],
    ...bounds.map((le): Labels => [
      ['__name__', 'took_seconds_bucket'],
      own[0],
      ['le', le],
      own[1],
    ]),
  ];
});

/**
 * Returns values of one step by series: gauges wander, counters grow and reset now and then, some
 * are missing for a while.
 */
export function samplesAt(
  step: number,
  values: Map<string, number>,
  random: Random,
): [series: number, value: number][] {
  const samples: [number, number][] = [];
  for (const [index, labels] of seriesOf.entries()) {
    const name = labels[0]![1];
    const key = String(index);
    const before = values.get(key) ?? 0;
    const grown =
      name === 'temperature'
        ? random(4_000) / 40 - 20
        : name.endsWith('_bucket')
          ? before + random(3)
          : random(200) === 0
            ? random(5)
            : before + random(20);
    values.set(key, grown);
    if ((step + index * 31) % 97 > 6) {
      samples.push([index, grown]);
    }
  }
  return cumulated(samples);
}

/** A bucket counts what the ones before it do, too. */
function cumulated(samples: [number, number][]): [number, number][] {
  return samples.map(([index, value]) => {
    const le = seriesOf[index]!.find(([name]) => name === 'le')?.[1];
    return [index, le === undefined ? value : value * (bounds.indexOf(le) + 1)];
  });
}

const ranges = ['1m', '3m', '5m', '17m', '1h', '6h'];
const overTime = [
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'sum_over_time',
  'count_over_time',
  'last_over_time',
  'stddev_over_time',
  'changes',
  'resets',
];
const counters = ['increase', 'rate', 'irate', 'delta', 'changes', 'resets'];

/**
 * Returns an expression with the same meaning in Prometheus 2 and 3: times lie between samples, so
 * that it does not matter which end of a window is open. Functions that changed are excluded: rate
 * where the first value is near 0, `atan2` and `predict_linear` with `@`.
 */
export function questionFrom(random: Random): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const matchers = pick([
    '',
    '{host="a"}',
    '{zone=~"e.*"}',
    '{host!="b"}',
    '{host=~"a|c",zone!=""}',
    '{nope=""}',
  ]);
  const offset = random(4) === 0 ? ` offset ${pick(['1m', '20m', '2h'])}` : '';
  const inner = pick([
    () => `temperature${matchers}${offset}`,
    () => `${pick(overTime)}(temperature${matchers}[${pick(ranges)}]${offset})`,
    () =>
      `${pick(counters.slice(2))}(${pick(['work_total', 'errors_total'])}${matchers}[${pick(ranges.slice(1))}]${offset})`,
    () =>
      `quantile_over_time(${pick(['0.1', '0.5', '0.95'])}, temperature${matchers}[${pick(ranges)}]${offset})`,
    () => `max_over_time(temperature${matchers}[${pick(['17m', '1h'])}:${pick(['1m', '90s'])}])`,
    () => `deriv(temperature${matchers}[${pick(ranges.slice(1))}])`,
    () => `errors_total${matchers} / on (host) group_left work_total${matchers}`,
    () => `work_total${matchers} ${pick(['>', '<=', '!=', '> bool'])} ${random(400)}`,
    () => `temperature${matchers} ${pick(['+', '-', '*', '%'])} ${1 + random(9)}`,
    () => `work_total ${pick(['and', 'unless', 'or'])} on (host) temperature${matchers}`,
    () => `${pick(['abs', 'ceil', 'floor', 'sgn', 'sqrt', 'exp'])}(temperature${matchers})`,
    () => `clamp(temperature${matchers}, ${random(5)}, ${10 + random(40)})`,
    () => `label_replace(temperature${matchers}, "short", "$1", "zone", "(.).*")`,
    () => `absent(temperature${matchers})`,
    () => `sum_over_time(took_seconds_bucket${matchers}[${pick(ranges)}])`,
  ])();
  const by = pick(['', ' by (host)', ' by (zone)', ' without (host)']);
  return pick([
    () => inner,
    () => inner,
    () =>
      `${pick(['sum', 'avg', 'min', 'max', 'count', 'group', 'stddev', 'stdvar'])}${by} (${inner})`,
    () => `quantile${by} (0.${1 + random(9)}, ${inner})`,
    () =>
      `histogram_quantile(${pick(['0.5', '0.9', '0.99'])}, sum by (le${pick(['', ', zone', ', host'])}) (took_seconds_bucket${pick(['', '{host="a"}'])}))`,
  ])();
}

/** Formats labels as one text. */
export const keyOf = (labels: Readonly<Record<string, string>>): string =>
  Object.keys(labels)
    .sort()
    .map((name) => `${name}=${labels[name]!}`)
    .join();
