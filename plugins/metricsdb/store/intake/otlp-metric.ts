import { formatFloat, labelsOf as sortedLabels } from 'svc/query';
import { anyValueText, type KeyValue } from 'svc/store';

import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { labelNameOf, metricNameOf } from './otlp-names.ts';

interface Point {
  readonly attributes: readonly KeyValue[];
  /** Milliseconds. */
  readonly time: number;
  /** True if the sender states that there is no value any more. */
  readonly ended: boolean;
  readonly exemplars?: readonly OtlpExemplar[];
}

export interface OtlpExemplar {
  readonly attributes: readonly KeyValue[];
  readonly time: number;
  readonly value: number;
  /** Trace id in hexadecimal, or empty. */
  readonly traceId: string;
  readonly spanId: string;
}

export interface NumberPoint extends Point {
  readonly value: number;
}

export interface HistogramPoint extends Point {
  readonly count: number;
  readonly sum: number | undefined;
  readonly bounds: readonly number[];
  readonly buckets: readonly number[];
}

export interface SummaryPoint extends Point {
  readonly count: number;
  readonly sum: number;
  readonly quantiles: readonly (readonly [quantile: number, value: number])[];
}

interface Described {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
}

/**
 * Metric of an OTLP message in either encoding; `updown` is a sum that also shrinks, `delta` one
 * that states increments. Points can be read once.
 */
export type OtlpMetric = Described &
  (
    | {
        readonly kind: 'gauge' | 'counter' | 'updown';
        readonly delta: boolean;
        readonly points: Iterable<NumberPoint>;
      }
    | {
        readonly kind: 'histogram';
        readonly delta: boolean;
        readonly points: Iterable<HistogramPoint>;
      }
    | { readonly kind: 'summary'; readonly points: Iterable<SummaryPoint> }
    | { readonly kind: 'refused'; readonly why: string; readonly points: Iterable<unknown> }
  );

type Pairs = readonly (readonly [string, string])[];

/** Resource attributes that make up `job` and `instance`. */
const identifying: ReadonlySet<string> = new Set([
  'service.name',
  'service.namespace',
  'service.instance.id',
]);

/** Labels that every series of a resource has: `job` and `instance` as Prometheus names them. */
function resourceLabels(attributes: readonly KeyValue[]): Pairs {
  const text = (key: string): string =>
    anyValueText(attributes.find((pair) => pair.key === key)?.value);
  const service = text('service.name');
  const namespace = text('service.namespace');
  return [
    ['job', namespace === '' || service === '' ? service : `${namespace}/${service}`],
    ['instance', text('service.instance.id')],
  ];
}

/** The metrics of one resource, and the series `target_info` with those of its attributes that are not labels of all the others. */
export function takeResource(
  attributes: readonly KeyValue[],
  metrics: Iterable<OtlpMetric>,
  intake: Intake,
  metadata: MetadataSink,
): void {
  const labels = resourceLabels(attributes);
  let latest = 0;
  for (const metric of metrics) {
    latest = Math.max(latest, takeMetric(metric, labels, intake, metadata));
  }
  const others = attributes.filter(({ key }) => !identifying.has(key));
  if (others.length > 0 && latest > 0 && labels.some(([, value]) => value !== '')) {
    metadata.note('target_info', { type: 'gauge', help: 'Target metadata', unit: '' });
    const slot = intake.seriesOf([
      ['__name__', 'target_info'],
      ...labelsOf({ attributes: others }, labels),
    ]);
    intake.sample(slot, latest, 1, false);
  }
}

/**
 * Puts the points of one metric into the intake, a series per bucket and quantile. Returns the time of the latest one; 0
 * for none.
 */
function takeMetric(
  metric: OtlpMetric,
  resource: Pairs,
  intake: Intake,
  metadata: MetadataSink,
): number {
  if (metric.kind === 'refused') {
    for (const _ of metric.points) {
      intake.reject(metric.why);
    }
    return 0;
  }
  let latest = 0;
  const name = metricNameOf(metric);
  metadata.note(name, {
    type: metric.kind === 'updown' ? 'gauge' : metric.kind,
    help: metric.description,
    unit: metric.unit,
  });
  switch (metric.kind) {
    case 'gauge':
    case 'counter':
    case 'updown':
      for (const point of metric.points) {
        latest = Math.max(latest, point.time);
        put(
          intake,
          [['__name__', name], ...labelsOf(point, resource)],
          point,
          point.value,
          metric.delta,
        );
      }
      break;
    case 'histogram':
      for (const point of metric.points) {
        latest = Math.max(latest, point.time);
        takeHistogram(name, point, labelsOf(point, resource), { intake, delta: metric.delta });
      }
      break;
    case 'summary':
      for (const point of metric.points) {
        latest = Math.max(latest, point.time);
        const labels = labelsOf(point, resource);
        point.quantiles.forEach(([quantile, value]) =>
          put(
            intake,
            [['__name__', name], ...labels, ['quantile', formatFloat(quantile)]],
            point,
            value,
          ),
        );
        put(intake, [['__name__', `${name}_sum`], ...labels], point, point.sum);
        put(intake, [['__name__', `${name}_count`], ...labels], point, point.count);
      }
  }
  return latest;
}

function takeHistogram(
  name: string,
  point: HistogramPoint,
  labels: Pairs,
  { intake, delta }: { readonly intake: Intake; readonly delta: boolean },
): void {
  const series = (
    suffix: string,
    value: number,
    more: Pairs = [],
    exemplars: Point['exemplars'] = [],
  ): void =>
    put(
      intake,
      [['__name__', `${name}_${suffix}`], ...labels, ...more],
      { ...point, exemplars },
      value,
      delta,
    );
  let below = 0;
  let lower = -Infinity;
  [...point.bounds, Infinity].forEach((bound, i) => {
    below = bound === Infinity ? point.count : below + (point.buckets[i] ?? 0);
    const inside = point.exemplars?.filter(({ value }) => value > lower && value <= bound);
    series('bucket', below, [['le', formatFloat(bound)]], inside);
    lower = bound;
  });
  if (point.sum !== undefined || point.ended) {
    series('sum', point.sum ?? 0);
  }
  series('count', point.count);
}

function put(
  intake: Intake,
  series: Pairs,
  { time, ended, exemplars = [] }: Point,
  value: number,
  delta = false,
): void {
  const slot = intake.seriesOf(series);
  if (delta && !ended) {
    intake.delta(slot, time, value);
  } else {
    intake.sample(slot, time, value, ended);
  }
  for (const { attributes, time: at, value: seen, traceId, spanId } of exemplars) {
    const ids: Pairs = [
      ['trace_id', traceId],
      ['span_id', spanId],
    ];
    intake.exemplar(slot, {
      labels: sortedLabels([...labelsOf({ attributes }, []), ...ids]),
      time: at,
      value: seen,
    });
  }
}

/** Attributes under names that labels may have; values of keys that become one name are joined. */
function labelsOf({ attributes }: Pick<Point, 'attributes'>, resource: Pairs): Pairs {
  const values = new Map<string, string>(resource);
  const own = new Map<string, string>();
  for (const { key, value } of [...attributes].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const name = labelNameOf(key);
    const before = own.get(name);
    own.set(name, before === undefined ? anyValueText(value) : `${before};${anyValueText(value)}`);
  }
  own.forEach((value, name) => values.set(name, value));
  return [...values];
}
