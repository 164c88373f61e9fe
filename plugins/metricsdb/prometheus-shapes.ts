import { protocolParameter, protocolQuery } from 'svc/query';
import { type TSchema, Type } from 'typebox';

import type { StatusPage } from './drivers/driver.ts';
import type { Endpoint } from './thread/contract.ts';

/** Schema of `{"status":"success","data":…}`, with warnings about what the answer lacks. */
export const success = (data: TSchema): TSchema =>
  Type.Object({
    status: Type.Literal('success'),
    data,
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What is missing from the result, such as damaged parts of the store',
      }),
    ),
    infos: Type.Optional(
      Type.Array(Type.String(), { description: 'Likely mistakes in the query' }),
    ),
  });

export const LabelSet = Type.Record(Type.String(), Type.String());
const Sample = Type.Tuple([
  Type.Number({ description: 'Seconds since the Unix epoch' }),
  Type.String({ description: 'The value' }),
]);
const Series = Type.Array(Type.Object({ metric: LabelSet, values: Type.Array(Sample) }));
const Matrix = Type.Object({ resultType: Type.Literal('matrix'), result: Series });
const Vector = Type.Object({
  resultType: Type.Literal('vector'),
  result: Type.Array(Type.Object({ metric: LabelSet, value: Sample })),
});
const Single = Type.Object({ resultType: Type.Enum(['scalar', 'string']), result: Sample });
const Names = Type.Array(Type.String());
const Help = Type.Object({ type: Type.String(), help: Type.String(), unit: Type.String() });
const Exemplar = Type.Object({ labels: LabelSet, value: Type.String(), timestamp: Type.Number() });

const query = protocolParameter('PromQL', 'up');
const match = { 'match[]': protocolParameter('series selectors; may be repeated', 'up') };
const limit = {
  limit: protocolParameter('maximum number of entries; 0 or empty: all', '100'),
};
const settled = {
  timeout: protocolParameter('timeout of the query, as a duration or seconds', '30s'),
  lookback_delta: protocolParameter('maximum age of the newest sample of a series', '5m'),
  delayed_name_removal: protocolParameter(
    'whether names of metrics are dropped at the end of the query alone: true or false',
  ),
};
const window = {
  start: protocolParameter('start of the window: seconds or RFC 3339', '1700000000'),
  end: protocolParameter('end of the window: seconds or RFC 3339', '1700000600'),
};

interface Spoken {
  readonly query: ReturnType<typeof protocolQuery>;
  readonly response: TSchema;
}

/** Parameters and answer of each endpoint of the Prometheus API. */
export const spoken: Readonly<Record<Endpoint, Spoken>> = {
  query: {
    query: protocolQuery({
      query,
      time: protocolParameter('the instant; by default now', '1700000000'),
      ...settled,
      ...limit,
    }),
    response: success(Type.Union([Vector, Matrix, Single])),
  },
  query_range: {
    query: protocolQuery({
      query,
      ...window,
      step: protocolParameter('distance of the points: seconds or a duration', '15s'),
      ...settled,
      ...limit,
    }),
    response: success(Matrix),
  },
  series: {
    query: protocolQuery({ ...match, ...window, ...limit }),
    response: success(Type.Array(LabelSet)),
  },
  labels: { query: protocolQuery({ ...match, ...window, ...limit }), response: success(Names) },
  values: { query: protocolQuery({ ...match, ...window, ...limit }), response: success(Names) },
  query_exemplars: {
    query: protocolQuery({ query, ...window, ...limit }),
    response: success(
      Type.Array(Type.Object({ seriesLabels: LabelSet, exemplars: Type.Array(Exemplar) })),
    ),
  },
  format_query: { query: protocolQuery({ query }), response: success(Type.String()) },
  metadata: {
    query: protocolQuery({ metric: protocolParameter('of this metric alone', 'up'), ...limit }),
    response: success(Type.Record(Type.String(), Type.Array(Help))),
  },
};

const Counted = Type.Array(Type.Object({ name: Type.String(), value: Type.Integer() }));

export const statusShapes: Readonly<Record<StatusPage, TSchema>> = {
  buildinfo: success(Type.Object({ version: Type.String(), revision: Type.String() })),
  flags: success(LabelSet),
  runtimeinfo: success(Type.Object({ startTime: Type.String(), storageRetention: Type.String() })),
  tsdb: success(
    Type.Object({
      headStats: Type.Object({
        numSeries: Type.Integer(),
        numLabelPairs: Type.Integer(),
        chunkCount: Type.Integer(),
        minTime: Type.Number({ description: 'Milliseconds since the Unix epoch' }),
        maxTime: Type.Number({ description: 'Milliseconds since the Unix epoch' }),
      }),
      seriesCountByMetricName: Counted,
      labelValueCountByLabelName: Counted,
      memoryInBytesByLabelName: Counted,
      seriesCountByLabelValuePair: Counted,
      seriesCountBySender: Type.Optional(Counted),
      seriesLimits: Type.Optional(
        Type.Array(
          Type.Object({
            limit: Type.Enum(['all', 'sender', 'metric']),
            sender: Type.String(),
            metric: Type.String(),
            used: Type.Integer(),
            max: Type.Integer(),
          }),
          { description: 'Series limits, the overall limit first; for administrators' },
        ),
      ),
    }),
  ),
};

export const deletionQuery = protocolQuery({ ...match, ...window });

export const tsdbQuery = protocolQuery({
  limit: protocolParameter('maximum number of entries of each list, up to 10000', '10'),
});

const at = {
  lastEvaluation: Type.String({ format: 'date-time' }),
  evaluationTime: Type.Number({ description: 'seconds' }),
};

const Alert = Type.Object({
  labels: LabelSet,
  annotations: LabelSet,
  state: Type.Enum(['pending', 'firing']),
  activeAt: Type.String({ format: 'date-time' }),
  value: Type.String(),
});

const Rule = Type.Object({
  state: Type.Enum(['inactive', 'pending', 'firing']),
  name: Type.String(),
  query: Type.String(),
  duration: Type.Number({ description: 'seconds' }),
  labels: LabelSet,
  annotations: LabelSet,
  alerts: Type.Array(Alert),
  health: Type.String(),
  lastError: Type.Optional(Type.String()),
  type: Type.Literal('alerting'),
  ...at,
});

export const AlertsAnswer = success(Type.Object({ alerts: Type.Array(Alert) }));
export const RulesAnswer = success(
  Type.Object({
    groups: Type.Array(
      Type.Object({
        name: Type.String(),
        file: Type.String(),
        interval: Type.Number(),
        rules: Type.Array(Rule),
        ...at,
      }),
    ),
  }),
);
export const RulesQuery = protocolQuery({
  type: protocolParameter('alert or record', 'alert'),
  'rule_name[]': protocolParameter('only rules with these names; may be repeated'),
  'rule_group[]': protocolParameter('only rules of these groups; may be repeated'),
  exclude_alerts: protocolParameter('leaves the alerts out: true or false', 'true'),
});

const Target = Type.Object({
  labels: LabelSet,
  scrapePool: Type.String(),
  health: Type.Enum(['up', 'down']),
  lastScrape: Type.String({ format: 'date-time' }),
});
export const TargetsAnswer = success(
  Type.Object({ activeTargets: Type.Array(Target), droppedTargets: Type.Array(Type.Unknown()) }),
);
export const TargetsQuery = protocolQuery({
  state: protocolParameter('active, dropped or any', 'active'),
});
