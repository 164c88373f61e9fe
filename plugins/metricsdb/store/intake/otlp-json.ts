import {
  jsonArray,
  jsonEntries,
  jsonNanos,
  jsonNumber,
  jsonObject,
  jsonText,
  keyValuesFromJson,
  resourceFromJson,
  parsePushJson,
} from 'svc/store';

import { errors } from './errors.ts';
import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import {
  type HistogramPoint,
  type NumberPoint,
  type OtlpExemplar,
  type OtlpMetric,
  type SummaryPoint,
  takeResource,
} from './otlp-metric.ts';
import { noTemporality, onlyClassic, temporalities } from './otlp-proto.ts';

type Json = Readonly<Record<string, unknown>>;

/** Reads an OTLP ExportMetricsServiceRequest in JSON. */
export function readOtlpJson(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  try {
    const request = jsonObject(parsePushJson(bytes, lists), 'the body');
    for (const entry of jsonEntries(request['resourceMetrics'], 'resourceMetrics')) {
      const { resource, scopeMetrics } = jsonObject(entry, 'an entry of resourceMetrics');
      takeResource(
        resourceFromJson(resource).attributes,
        metricsOf(scopeMetrics),
        intake,
        metadata,
      );
    }
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw errors.otlp_json({ cause: error });
    }
    throw error;
  }
}

function* metricsOf(scopeMetrics: unknown): Generator<OtlpMetric> {
  for (const scope of jsonEntries(scopeMetrics, 'scopeMetrics')) {
    const { metrics } = jsonObject(scope, 'an entry of scopeMetrics');
    for (const metric of jsonEntries(metrics, 'metrics')) {
      yield metricOf(jsonObject(metric, 'a metric'));
    }
  }
}

/** Lists that are read in pieces. */
const lists = ['resourceMetrics', 'scopeMetrics', 'metrics', 'dataPoints'];

function* pointsOf<P>(data: unknown, pointOf: (point: Json) => P): Generator<P> {
  for (const point of jsonEntries(jsonObject(data, 'the data')['dataPoints'], 'dataPoints')) {
    yield pointOf(jsonObject(point, 'a data point'));
  }
}

function metricOf(json: Json): OtlpMetric {
  const described = {
    name: jsonText(json['name'], 'name'),
    description: jsonText(json['description'], 'description'),
    unit: jsonText(json['unit'], 'unit'),
  };
  const { sum, gauge, histogram, exponentialHistogram, summary } = json;
  if (sum !== undefined) {
    const data = jsonObject(sum, 'sum');
    const delta = isDelta(data);
    return delta !== undefined
      ? {
          ...described,
          kind: data['isMonotonic'] === true ? 'counter' : 'updown',
          delta,
          points: pointsOf(sum, numberPoint),
        }
      : { ...described, kind: 'refused', why: noTemporality, points: pointsOf(sum, asSent) };
  }
  if (histogram !== undefined) {
    const delta = isDelta(jsonObject(histogram, 'histogram'));
    return delta !== undefined
      ? { ...described, kind: 'histogram', delta, points: pointsOf(histogram, histogramPoint) }
      : { ...described, kind: 'refused', why: noTemporality, points: pointsOf(histogram, asSent) };
  }
  if (exponentialHistogram !== undefined) {
    return {
      ...described,
      kind: 'refused',
      why: onlyClassic,
      points: pointsOf(exponentialHistogram, asSent),
    };
  }
  return summary === undefined
    ? { ...described, kind: 'gauge', delta: false, points: pointsOf(gauge, numberPoint) }
    : { ...described, kind: 'summary', points: pointsOf(summary, summaryPoint) };
}

const asSent = (point: Json): Json => point;

/** Returns whether it is a delta; undefined if unstated. */
function isDelta({ aggregationTemporality: said }: Json): boolean | undefined {
  const delta = said === temporalities.delta || said === 'AGGREGATION_TEMPORALITY_DELTA';
  return delta || said === temporalities.cumulative || said === 'AGGREGATION_TEMPORALITY_CUMULATIVE'
    ? delta
    : undefined;
}

const exemplarOf = (json: Json): OtlpExemplar => ({
  attributes: keyValuesFromJson(json['filteredAttributes']),
  time: jsonNanos(json['timeUnixNano'], 'timeUnixNano').ms,
  value: jsonNumber(json['asDouble'] ?? json['asInt'], 'the value'),
  traceId: jsonText(json['traceId'], 'traceId').toLowerCase(),
  spanId: jsonText(json['spanId'], 'spanId').toLowerCase(),
});

function common(point: Json): Omit<NumberPoint, 'value'> {
  return {
    attributes: keyValuesFromJson(point['attributes']),
    time: jsonNanos(point['timeUnixNano'], 'timeUnixNano').ms,
    ended: jsonNumber(point['flags'], 'flags') % 2 === 1,
    exemplars: jsonArray(point['exemplars'], 'exemplars').map((exemplar) =>
      exemplarOf(jsonObject(exemplar, 'an exemplar')),
    ),
  };
}

const numberPoint = (point: Json): NumberPoint => ({
  ...common(point),
  value: jsonNumber(point['asDouble'] ?? point['asInt'], 'the value'),
});

const histogramPoint = (point: Json): HistogramPoint => ({
  ...common(point),
  count: jsonNumber(point['count'], 'count'),
  sum: point['sum'] === undefined ? undefined : jsonNumber(point['sum'], 'sum'),
  bounds: jsonArray(point['explicitBounds'], 'explicitBounds').map((bound) =>
    jsonNumber(bound, 'a bound'),
  ),
  buckets: jsonArray(point['bucketCounts'], 'bucketCounts').map((count) =>
    jsonNumber(count, 'a bucket'),
  ),
});

const summaryPoint = (point: Json): SummaryPoint => ({
  ...common(point),
  count: jsonNumber(point['count'], 'count'),
  sum: jsonNumber(point['sum'], 'sum'),
  quantiles: jsonArray(point['quantileValues'], 'quantileValues').map((entry) => {
    const { quantile, value } = jsonObject(entry, 'a quantile');
    return [jsonNumber(quantile, 'quantile'), jsonNumber(value, 'value')] as const;
  }),
});
