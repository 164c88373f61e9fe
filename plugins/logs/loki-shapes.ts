import { protocolParameter, protocolQuery } from 'svc/query';
import { type TSchema, Type } from 'typebox';

import type { EndpointName } from './loki/endpoints.ts';

const Labels = Type.Record(Type.String(), Type.String());
const Sample = Type.Tuple([
  Type.Number({ description: 'Seconds since the Unix epoch' }),
  Type.String({ description: 'The value' }),
]);
const told = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What is missing from the result, such as damaged parts of the store',
    }),
  ),
};
const stats = {
  stats: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Cost of the query' }),
  ),
};

const Streams = Type.Object({
  resultType: Type.Literal('streams'),
  result: Type.Array(
    Type.Object({
      stream: Labels,
      values: Type.Array(
        Type.Array(Type.Unknown(), {
          minItems: 2,
          description:
            "Timestamp in nanoseconds since the Unix epoch and the log line, both as strings, followed by the line's labels",
        }),
      ),
    }),
  ),
  encodingFlags: Type.Optional(Type.Array(Type.String())),
  ...stats,
});
const Matrix = Type.Object({
  resultType: Type.Literal('matrix'),
  result: Type.Array(Type.Object({ metric: Labels, values: Type.Array(Sample) })),
  ...stats,
});
const Vector = Type.Object({
  resultType: Type.Literal('vector'),
  result: Type.Array(Type.Object({ metric: Labels, value: Sample })),
  ...stats,
});
const Scalar = Type.Object({ resultType: Type.Literal('scalar'), result: Sample, ...stats });

const success = (data: TSchema): TSchema =>
  Type.Object({ status: Type.Literal('success'), data, ...told });
/** List of names; omitted if empty. */
const Names = success(Type.Optional(Type.Array(Type.String())));
const Field = Type.Object({
  label: Type.String(),
  type: Type.String(),
  cardinality: Type.Integer(),
  parsers: Type.Union([Type.Array(Type.String()), Type.Null()]),
});

const query = protocolParameter('LogQL', '{job=~".+"}');
const selector = protocolParameter('selector of streams', '{job=~".+"}');
const window = {
  start: protocolParameter('start of the window: seconds, nanoseconds or RFC 3339', '1700000000'),
  end: protocolParameter('end of the window, not included; by default now', '1700000600'),
  since: protocolParameter('length of the window instead of its start', '1h'),
};
const step = protocolParameter('distance of the points: seconds or a duration', '1m');
const volume = {
  query: selector,
  ...window,
  limit: protocolParameter('maximum number of label sets', '100'),
  targetLabels: protocolParameter(
    'sums by these labels, with commas between; by default those of the selector',
  ),
  aggregateBy: protocolParameter('series or labels', 'series'),
};

interface Spoken {
  readonly query: ReturnType<typeof protocolQuery>;
  readonly response: TSchema;
}

export const buildInfo = Type.Object({ version: Type.String(), revision: Type.String() });

/** Parameters and answer of each endpoint of Loki's API. */
export const spoken: Readonly<Record<EndpointName, Spoken>> = {
  query: {
    query: protocolQuery({
      query: protocolParameter('LogQL of a metric', 'count_over_time({job=~".+"}[1m])'),
      time: protocolParameter('the instant; by default now', '1700000000'),
    }),
    response: success(Type.Union([Vector, Scalar])),
  },
  query_range: {
    query: protocolQuery({
      query,
      ...window,
      step,
      limit: protocolParameter('most lines, 100 by default, 5000 at most', '100'),
      direction: protocolParameter('backward, newest first, by default; or forward', 'backward'),
      interval: protocolParameter('least distance between two lines', '1s'),
    }),
    response: success(Type.Union([Streams, Matrix])),
  },
  labels: { query: protocolQuery({ query: selector, ...window }), response: Names },
  values: { query: protocolQuery({ query: selector, ...window }), response: Names },
  series: {
    query: protocolQuery({
      'match[]': protocolParameter('stream selectors; may be repeated', '{job=~".+"}'),
      ...window,
    }),
    response: success(Type.Array(Labels)),
  },
  index_stats: {
    query: protocolQuery({ query: selector, ...window }),
    response: Type.Object({
      streams: Type.Integer(),
      chunks: Type.Integer(),
      bytes: Type.Integer(),
      entries: Type.Integer(),
      ...told,
    }),
  },
  index_volume: { query: protocolQuery(volume), response: success(Vector) },
  index_volume_range: { query: protocolQuery({ ...volume, step }), response: success(Matrix) },
  patterns: {
    query: protocolQuery({ query: selector, ...window, step }),
    response: success(
      Type.Array(
        Type.Object({
          pattern: Type.String(),
          samples: Type.Array(Type.Tuple([Type.Number(), Type.Number()])),
        }),
      ),
    ),
  },
  detected_fields: {
    query: protocolQuery({
      query,
      ...window,
      limit: protocolParameter('most fields', '100'),
      line_limit: protocolParameter('maximum number of lines to read', '1000'),
    }),
    response: Type.Object({
      fields: Type.Optional(Type.Array(Field)),
      values: Type.Optional(
        Type.Array(Type.String(), { description: 'Values of one field, if requested' }),
      ),
      limit: Type.Integer(),
      ...told,
    }),
  },
  detected_labels: {
    query: protocolQuery({ query: selector, ...window }),
    response: Type.Object({
      detectedLabels: Type.Array(
        Type.Object({ label: Type.String(), cardinality: Type.Integer() }),
      ),
      ...told,
    }),
  },
  format_query: { query: protocolQuery({ query }), response: success(Type.String()) },
};
