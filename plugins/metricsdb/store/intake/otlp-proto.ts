import { decodeKeyValue, decodeResource, ProtoReader, type KeyValue } from 'svc/store';

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

export const noTemporality = 'a sum or histogram does not say whether it is a delta or cumulative';
export const onlyClassic = 'exponential histograms are not stored; send explicit buckets';
export const temporalities = { delta: 1, cumulative: 2 } as const;

/** Reads an OTLP ExportMetricsServiceRequest in protobuf. */
export function readOtlpProto(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  eachField(new ProtoReader(bytes), {
    1: (request) => {
      let attributes: readonly KeyValue[] = [];
      const metrics: OtlpMetric[] = [];
      eachField(request.message(), {
        1: (reader) => (attributes = decodeResource(reader.message()).attributes),
        2: (reader) =>
          eachField(reader.message(), { 2: (scope) => metrics.push(metricOf(scope.message())) }),
      });
      takeResource(attributes, metrics, intake, metadata);
    },
  });
}

function metricOf(message: ProtoReader): OtlpMetric {
  const described = { name: '', description: '', unit: '' };
  let data: Pick<OtlpMetric, 'kind' | 'points'> & { readonly delta: boolean } = {
    kind: 'gauge',
    delta: false,
    points: [],
  };
  let why = '';
  eachField(message, {
    1: (reader) => (described.name = reader.string()),
    2: (reader) => (described.description = reader.string()),
    3: (reader) => (described.unit = reader.string()),
    5: (reader) =>
      (data = {
        kind: 'gauge',
        delta: false,
        points: dataOf(reader.message(), numberPoint).points,
      }),
    7: (reader) => {
      const { points, temporality, monotonic } = dataOf(reader.message(), numberPoint);
      data = {
        kind: temporality === 0 ? 'refused' : monotonic ? 'counter' : 'updown',
        delta: temporality === temporalities.delta,
        points,
      };
      why = noTemporality;
    },
    9: (reader) => {
      const { points, temporality } = dataOf(reader.message(), histogramPoint);
      data = {
        kind: temporality === 0 ? 'refused' : 'histogram',
        delta: temporality === temporalities.delta,
        points,
      };
      why = noTemporality;
    },
    10: (reader) => {
      data = {
        kind: 'refused',
        delta: false,
        points: dataOf(reader.message(), (point) => eachField(point, {})).points,
      };
      why = onlyClassic;
    },
    11: (reader) =>
      (data = {
        kind: 'summary',
        delta: false,
        points: dataOf(reader.message(), summaryPoint).points,
      }),
  });
  return { ...described, ...data, why } as OtlpMetric;
}

function dataOf<P>(
  message: ProtoReader,
  pointOf: (reader: ProtoReader) => P,
): { points: P[]; temporality: number; monotonic: boolean } {
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
  const point = {
    attributes: [] as KeyValue[],
    time: 0,
    ended: false,
    value: 0,
    exemplars: [] as OtlpExemplar[],
  };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.value = reader.double()),
    5: (reader) => point.exemplars.push(exemplarOf(reader.message())),
    6: (reader) => (point.value = reader.sfixed64()),
    7: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    8: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

function exemplarOf(message: ProtoReader): OtlpExemplar {
  const exemplar = { attributes: [] as KeyValue[], time: 0, value: 0, traceId: '', spanId: '' };
  eachField(message, {
    2: (reader) => (exemplar.time = timeOf(reader)),
    3: (reader) => (exemplar.value = reader.double()),
    4: (reader) => (exemplar.spanId = reader.bytes().toString('hex')),
    5: (reader) => (exemplar.traceId = reader.bytes().toString('hex')),
    6: (reader) => (exemplar.value = reader.sfixed64()),
    7: (reader) => exemplar.attributes.push(decodeKeyValue(reader.message())),
  });
  return exemplar;
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
    exemplars: [] as OtlpExemplar[],
  };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.count = reader.fixed64()),
    5: (reader) => (point.sum = reader.double()),
    6: (reader) => reader.packedFixed64((count) => point.buckets.push(count)),
    7: (reader) => reader.packedDoubles((bound) => point.bounds.push(bound)),
    8: (reader) => point.exemplars.push(exemplarOf(reader.message())),
    9: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    10: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

function summaryPoint(message: ProtoReader): SummaryPoint {
  const point = {
    attributes: [] as KeyValue[],
    time: 0,
    ended: false,
    count: 0,
    sum: 0,
    quantiles: [] as [number, number][],
  };
  eachField(message, {
    3: (reader) => (point.time = timeOf(reader)),
    4: (reader) => (point.count = reader.fixed64()),
    5: (reader) => (point.sum = reader.double()),
    6: (reader) => {
      const pair: [number, number] = [0, 0];
      eachField(reader.message(), {
        1: (inner) => (pair[0] = inner.double()),
        2: (inner) => (pair[1] = inner.double()),
      });
      point.quantiles.push(pair);
    },
    7: (reader) => point.attributes.push(decodeKeyValue(reader.message())),
    8: (reader) => (point.ended = reader.uint64() % 2 === 1),
  });
  return point;
}

/** Gives each field to the one who reads it; the others are skipped. */
function eachField(
  message: ProtoReader,
  readers: Readonly<Record<number, (reader: ProtoReader) => unknown>>,
): void {
  for (let field = message.next(); field !== 0; field = message.next()) {
    const read = readers[field];
    if (read === undefined) {
      message.skip();
    } else {
      read(message);
    }
  }
}
