import { formatFloat } from 'svc/query';
import { anyValueText, type KeyValue } from 'svc/store';

import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { labelNameOf, metricNameOf } from './otlp-names.ts';

interface Point {
  readonly attributes: readonly KeyValue[];
  /** Milliseconds. */
  readonly time: number;
  /** The sender says that there is no value any more. */
  readonly ended: boolean;
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

/** One metric of an OTLP message, whatever form it came in; `updown` is a sum that also shrinks. */
export type OtlpMetric = Described &
  (
    | { readonly kind: 'gauge' | 'counter' | 'updown'; readonly points: readonly NumberPoint[] }
    | { readonly kind: 'histogram'; readonly points: readonly HistogramPoint[] }
    | { readonly kind: 'summary'; readonly points: readonly SummaryPoint[] }
    | { readonly kind: 'refused'; readonly why: string; readonly points: readonly unknown[] }
  );

type Pairs = readonly (readonly [string, string])[];

/** Labels that every series of a resource has: `job` and `instance` as Prometheus names them. */
export function resourceLabels(attributes: readonly KeyValue[]): Pairs {
  const text = (key: string): string => anyValueText(attributes.find((pair) => pair.key === key)?.value);
  const service = text('service.name');
  const namespace = text('service.namespace');
  return [
    ['job', namespace === '' || service === '' ? service : `${namespace}/${service}`],
    ['instance', text('service.instance.id')],
  ];
}

/** Puts the points of one metric into the intake, a series per bucket and quantile. */
export function takeMetric(metric: OtlpMetric, resource: Pairs, intake: Intake, metadata: MetadataSink): void {
  if (metric.kind === 'refused') {
    metric.points.forEach(() => intake.reject(metric.why));
    return;
  }
  const name = metricNameOf(metric);
  metadata.note(name, { type: metric.kind === 'updown' ? 'gauge' : metric.kind, help: metric.description, unit: metric.unit });
  switch (metric.kind) {
    case 'gauge':
    case 'counter':
    case 'updown':
      for (const point of metric.points) {
        put(intake, name, labelsOf(point, resource), point, point.value);
      }
      break;
    case 'histogram':
      metric.points.forEach((point) => takeHistogram(name, point, labelsOf(point, resource), intake));
      break;
    case 'summary':
      for (const point of metric.points) {
        const labels = labelsOf(point, resource);
        point.quantiles.forEach(([quantile, value]) => put(intake, name, [...labels, ['quantile', formatFloat(quantile)]], point, value));
        put(intake, `${name}_sum`, labels, point, point.sum);
        put(intake, `${name}_count`, labels, point, point.count);
      }
  }
}

function takeHistogram(name: string, point: HistogramPoint, labels: Pairs, intake: Intake): void {
  let below = 0;
  point.bounds.forEach((bound, i) => {
    below += point.buckets[i] ?? 0;
    put(intake, `${name}_bucket`, [...labels, ['le', formatFloat(bound)]], point, below);
  });
  put(intake, `${name}_bucket`, [...labels, ['le', '+Inf']], point, point.count);
  if (point.sum !== undefined || point.ended) {
    put(intake, `${name}_sum`, labels, point, point.sum ?? 0);
  }
  put(intake, `${name}_count`, labels, point, point.count);
}

function put(intake: Intake, name: string, labels: Pairs, { time, ended }: Point, value: number): void {
  intake.sample(intake.seriesOf([['__name__', name], ...labels]), time, value, ended);
}

/** Attributes under names that labels may have; values of keys that become one name are joined. */
function labelsOf({ attributes }: Point, resource: Pairs): Pairs {
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
