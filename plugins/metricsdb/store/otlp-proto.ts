import { decodeKeyValue, decodeResource, ProtoReader, type KeyValue } from 'svc/store';

import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { resourceLabels, takeMetric, type HistogramPoint, type NumberPoint, type OtlpMetric, type SummaryPoint } from './otlp-metric.ts';

export const onlyCumulative = 'deltas are not stored; set the exporter to cumulative temporality';
export const onlyClassic = 'exponential histograms are not stored; send explicit buckets';
export const cumulative = 2;

/** Reads an OTLP ExportMetricsServiceRequest in protobuf. */
export function readOtlpProto(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  eachField(new ProtoReader(bytes), {
    1: (request) => {
      let labels = resourceLabels([]);
      const metrics: OtlpMetric[] = [];
      eachField(request.message(), {
        1: (reader) => (labels = resourceLabels(decodeResource(reader.message()).attributes)),
        2: (reader) => eachField(reader.message(), { 2: (scope) => metrics.push(metricOf(scope.message())) }),
      });
      metrics.forEach((metric) => takeMetric(metric, labels, intake, metadata));
    },
  });
}

function metricOf(message: ProtoReader): OtlpMetric {
  const described = { name: '', description: '', unit: '' };
  let data: Pick<OtlpMetric, 'kind' | 'points'> = { kind: 'gauge', points: [] };
  let why = '';
  eachField(message, {
    1: (reader) => (described.name = reader.string()),
    2: (reader) => (described.description = reader.string()),
    3: (reader) => (described.unit = reader.string()),
    5: (reader) => (data = { kind: 'gauge', points: dataOf(reader.message(), numberPoint).points }),
    7: (reader) => {
      const { points, temporality, monotonic } = dataOf(reader.message(), numberPoint);
      data = { kind: temporality === cumulative ? (monotonic ? 'counter' : 'updown') : 'refused', points };
      why = onlyCumulative;
    },
    9: (reader) => {
      const { points, temporality } = dataOf(reader.message(), histogramPoint);
      data = { kind: temporality === cumulative ? 'histogram' : 'refused', points };
      why = onlyCumulative;
    },
    10: (reader) => {
      data = { kind: 'refused', points: dataOf(reader.message(), (point) => eachField(point, {})).points };
      why = onlyClassic;
    },
    11: (reader) => (data = { kind: 'summary', points: dataOf(reader.message(), summaryPoint).points }),
  });
  return { ...described, ...data, why } as OtlpMetric;
}

function dataOf<P>(message: ProtoReader, pointOf: (reader: ProtoReader) => P): { points: P[]; temporality: number; monotonic: boolean } {
  const data = { points: [] as P[], temporality: 0, monotonic: false };
  eachField(message, {
    1: (reader) => data.points.push(pointOf(reader.message())),
    2: (reader) => (data.temporality = reader.uint64()),
    3: (reader) => (data.monotonic = reader.bool()),
  });
  return data;
}

const timeOf = (reader: ProtoReader): number => {
  reader.nanos();
  return reader.ms;
};

function numberPoint(message: ProtoReader): NumberPoint {
  const point = { attributes: [] as KeyValue[], time: 0, ended: false, value: 0 };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.value = reader.double()),
    6: (reader) => (point.value = reader.sfixed64()),
    7: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    8: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

function histogramPoint(message: ProtoReader): HistogramPoint {
  const point = {
    attributes: [] as KeyValue[],
    time: 0,
    ended: false,
    count: 0,
    sum: undefined as number | undefined,
    bounds: [] as number[],
    buckets: [] as number[],
  };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.count = reader.fixed64()),
    5: (reader) => (point.sum = reader.double()),
    6: (reader) => reader.packedFixed64((count) => point.buckets.push(count)),
    7: (reader) => reader.packedDoubles((bound) => point.bounds.push(bound)),
    9: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    10: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

function summaryPoint(message: ProtoReader): SummaryPoint {
  const point = { attributes: [] as KeyValue[], time: 0, ended: false, count: 0, sum: 0, quantiles: [] as [number, number][] };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.count = reader.fixed64()),
    5: (reader) => (point.sum = reader.double()),
    6: (reader) => {
      const pair: [number, number] = [0, 0];
      eachField(reader.message(), { 1: (inner) => (pair[0] = inner.double()), 2: (inner) => (pair[1] = inner.double()) });
      point.quantiles.push(pair);
    },
    7: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    8: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

/** Gives each field to the one who reads it; the others are skipped. */
function eachField(message: ProtoReader, readers: Readonly<Record<number, (reader: ProtoReader) => unknown>>): void {
  for (let field = message.next(); field !== 0; field = message.next()) {
    const read = readers[field];
    if (read === undefined) {
      message.skip();
    } else {
      read(message);
    }
  }
}
