import { protocolParameter, protocolQuery } from 'svc/query';
import { Type } from 'typebox';

const window = {
  start: protocolParameter('start of the window: seconds, nanoseconds or RFC 3339', '1700000000'),
  end: protocolParameter('end of the window; by default now', '1700000600'),
};
const filter = protocolParameter(
  'TraceQL filter: values of other spans do not count',
  '{ status = error }',
);
const q = protocolParameter('TraceQL of a metric', '{} | rate()');
const limit = protocolParameter('maximum number of traces, 1 to 1000; 20 by default', '20');
const valueLimit = protocolParameter('maximum number of values, 1 to 5000; 5000 by default', '20');
const scope = protocolParameter(
  'resource, span, event, link, instrumentation or intrinsic',
  'span',
);

/** Parameters of each endpoint of Tempo's API. */
const asked = {
  search: protocolQuery({
    ...window,
    q: protocolParameter('TraceQL', '{ status = error }'),
    tags: protocolParameter('instead of TraceQL: keys and values as logfmt'),
    minDuration: protocolParameter('with tags: shortest span, such as 50ms'),
    maxDuration: protocolParameter('with tags: longest span'),
    limit,
    spss: protocolParameter(
      'maximum number of spans shown of each set that matched. Default: 3',
      '3',
    ),
  }),
  tags: protocolQuery({ ...window, scope }),
  scopedTags: protocolQuery({ ...window, q: filter, scope }),
  values: protocolQuery({ ...window, limit: valueLimit }),
  typedValues: protocolQuery({ ...window, q: filter, limit: valueLimit }),
  range: protocolQuery({
    ...window,
    q,
    step: protocolParameter('distance of the points: seconds or a duration', '1m'),
    exemplars: protocolParameter('most exemplars, 100 by default', '100'),
  }),
  instant: protocolQuery({ ...window, q }),
} as const;

const told = {
  status: Type.Optional(
    Type.Literal('PARTIAL', { description: 'Part of the store could not be read' }),
  ),
  message: Type.Optional(Type.String()),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What is missing from the result, such as damaged parts of the store',
    }),
  ),
};
const Attribute = Type.Object({
  key: Type.String(),
  value: Type.Record(Type.String(), Type.Unknown()),
});
const Spanset = Type.Object({
  spans: Type.Array(
    Type.Object({
      spanID: Type.String(),
      startTimeUnixNano: Type.String(),
      durationNanos: Type.String(),
    }),
  ),
  matched: Type.Integer(),
});
const Found = Type.Object({
  traceID: Type.String(),
  rootServiceName: Type.Optional(Type.String()),
  rootTraceName: Type.Optional(Type.String()),
  startTimeUnixNano: Type.String(),
  durationMs: Type.Optional(Type.Number()),
  spanSets: Type.Optional(Type.Array(Spanset)),
});
const Series = Type.Object({
  labels: Type.Array(Attribute),
  samples: Type.Optional(
    Type.Array(Type.Object({ timestampMs: Type.String(), value: Type.Optional(Type.Unknown()) })),
  ),
  value: Type.Optional(Type.Unknown({ description: 'For an instant query: the value' })),
  promLabels: Type.String(),
});
const Batch = Type.Object({ resource: Type.Unknown(), scopeSpans: Type.Array(Type.Unknown()) });

/** Answers of each endpoint. */
export const answered = {
  buildInfo: Type.Object({ version: Type.String(), revision: Type.String() }),
  search: Type.Object({
    traces: Type.Array(Found),
    metrics: Type.Record(Type.String(), Type.Unknown()),
    ...told,
  }),
  tags: Type.Object({ tagNames: Type.Array(Type.String()), ...told }),
  scopedTags: Type.Object({
    scopes: Type.Array(Type.Object({ name: Type.String(), tags: Type.Array(Type.String()) })),
    ...told,
  }),
  values: Type.Object({ tagValues: Type.Array(Type.String()), ...told }),
  typedValues: Type.Object({
    tagValues: Type.Array(Type.Object({ type: Type.String(), value: Type.String() })),
    ...told,
  }),
  metrics: Type.Object({
    series: Type.Array(Series),
    metrics: Type.Optional(Type.Unknown()),
    ...told,
  }),
  trace: Type.Object({ batches: Type.Array(Batch), ...told }),
  wrappedTrace: Type.Object({
    trace: Type.Object({ resourceSpans: Type.Optional(Type.Array(Batch)) }),
    ...told,
  }),
} as const;

/** Parameters and answer of each endpoint. */
export const spoken = {
  search: { query: asked.search, response: answered.search },
  tags: { query: asked.tags, response: answered.tags },
  scopedTags: { query: asked.scopedTags, response: answered.scopedTags },
  values: { query: asked.values, response: answered.values },
  typedValues: { query: asked.typedValues, response: answered.typedValues },
  range: { query: asked.range, response: answered.metrics },
  instant: { query: asked.instant, response: answered.metrics },
} as const;
