import { Type } from 'typebox';

const Time = (what: string) =>
  Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 64 })], {
    description: `${what}: Unix time in seconds, or an RFC 3339 timestamp`,
  });

export const RangeQuestion = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 65_536, description: 'PromQL' }),
  start: Time('first moment'),
  end: Time('last moment'),
  step: Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 32 })], {
    description: 'Seconds, or a duration such as 30s',
  }),
});

export const Launch = Type.Object({
  driver: Type.Optional(
    Type.Union([Type.Literal('embedded'), Type.Literal('process'), Type.Literal('remote')]),
  ),
  retention: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]{0,3}[ywdh])$',
      examples: ['30d'],
      description: 'Such as 30d',
    }),
  ),
});

export const Launched = Type.Object({
  status: Type.Union([Type.Literal('running'), Type.Literal('starting'), Type.Literal('failed')]),
  driver: Type.Union([Type.Literal('embedded'), Type.Literal('process'), Type.Literal('remote')]),
  url: Type.String({ description: "Base URL of the store's Prometheus API" }),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  started_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});

export const Matrix = Type.Object({
  result_type: Type.Literal('matrix'),
  result: Type.Array(
    Type.Object({
      metric: Type.Record(Type.String(), Type.String()),
      values: Type.Array(
        Type.Tuple([Type.Number({ description: 'Seconds since the Unix epoch' }), Type.String()]),
      ),
    }),
  ),
  warnings: Type.Array(Type.String()),
});
