import { Type } from 'typebox';

import { columns, lastRow } from './position.ts';
import { units } from './units.ts';

const oneOf = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>({ enum: [...values] });

export const panelTypes = ['timeseries', 'stat', 'gauge', 'table', 'logs'] as const;
export type PanelType = (typeof panelTypes)[number];

export const Uid = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$', examples: ['ops'] });
const Title = Type.String({ minLength: 1, maxLength: 200 });
const Query = Type.String({
  minLength: 1,
  maxLength: 8_192,
  description: 'PromQL; LogQL that selects lines for a panel of type logs',
});
const Legend = Type.String({
  maxLength: 200,
  description: 'name of each series: {{label}} stands for a label of it',
});
const Unit = oneOf(units);
const State = oneOf(['ok', 'warning', 'critical'] as const);

const Thresholds = Type.Array(
  Type.Object({ value: Type.Union([Type.Number(), Type.Null()]), state: State }),
  {
    maxItems: 20,
    description:
      'rising; a value is in the state of the last step it reaches, below the first one it is ok unless that has the value null',
  },
);

export const Position = Type.Object(
  {
    x: Type.Integer({ minimum: 0, maximum: columns - 1 }),
    y: Type.Integer({ minimum: 0, maximum: lastRow }),
    w: Type.Integer({ minimum: 1, maximum: columns }),
    h: Type.Integer({ minimum: 1, maximum: 100 }),
  },
  { description: `a grid of ${columns} columns` },
);

const fields = { title: Title, type: oneOf(panelTypes), query: Query };

export const PanelDraft = Type.Object({
  dashboard_uid: Uid,
  ...fields,
  legend: Type.Optional(Legend),
  unit: Type.Optional(Unit),
  thresholds: Type.Optional(Thresholds),
  position: Type.Optional(Position),
});

export const PanelPatch = Type.Partial(PanelDraft, { minProperties: 1 });

export const Panel = Type.Object({
  id: Type.Integer(),
  dashboard_uid: Uid,
  ...fields,
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
});

export const PanelId = Type.Object({ id: Type.Integer({ minimum: 1 }) });
export const PanelQuery = Type.Object({ dashboard_uid: Type.Optional(Uid) });
export const DashboardUid = Type.Object({ uid: Type.String({ minLength: 1, maxLength: 80 }) });

const VariableText = Type.String({ maxLength: 200 });

export const VariableName = Type.String({
  pattern: '^[a-z][A-Za-z0-9_]{0,39}$|^[A-Z][A-Za-z0-9_]{0,39}$',
  examples: ['host'],
});

export const Variable = Type.Object(
  {
    name: VariableName,
    title: Type.Optional(Type.String({ maxLength: 200 })),
    type: oneOf(['query', 'custom', 'interval', 'text'] as const),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'type query: label_values(label) or label_values(selector, label)',
      }),
    ),
    regex: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'type query: values it does not match are left out, its first group replaces them',
      }),
    ),
    values: Type.Optional(
      Type.Array(VariableText, {
        minItems: 1,
        maxItems: 200,
        description: 'types custom and interval',
      }),
    ),
    default: Type.Optional(VariableText),
    multi: Type.Optional(Type.Boolean({ description: 'several values may be given at once' })),
    all: Type.Optional(Type.Boolean({ description: '$__all may be given' })),
  },
  { additionalProperties: false },
);

/** A dashboard as it stands in a file. */
export const DashboardFile = Type.Object(
  {
    uid: Uid,
    title: Title,
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    variables: Type.Optional(Type.Array(Variable, { maxItems: 20 })),
    sources: Type.Optional(
      Type.Array(
        Type.Object(
          {
            prefix: Type.String({
              pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]{2,79}$',
              examples: ['node_cpu'],
            }),
            text: Type.String({ minLength: 1, maxLength: 300 }),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 50,
          description:
            'what brings the metrics whose names begin so, or are so when it does not end in _: shown while they are missing',
        },
      ),
    ),
    panels: Type.Array(
      Type.Object(
        {
          ...fields,
          legend: Type.Optional(Legend),
          unit: Type.Optional(Unit),
          thresholds: Type.Optional(
            Type.Array(
              Type.Object(
                { value: Type.Union([Type.Number(), Type.Null()]), state: State },
                { additionalProperties: false },
              ),
              { maxItems: 20 },
            ),
          ),
          position: Type.Optional(
            Type.Object(Position.properties, { additionalProperties: false }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 100 },
    ),
  },
  { additionalProperties: false },
);

/** User content of a dashboard, as in a file for svc export and apply. */
const UsersDashboard = {
  title: Type.Union([Title, Type.Null()], {
    description: 'null of a dashboard that a plugin brings',
  }),
  variables: Type.Array(Variable, { maxItems: 20 }),
};
const placed = {
  ...fields,
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
};

export const UsersDashboardItem = Type.Object({
  uid: Type.String(),
  ...UsersDashboard,
  panels: Type.Array(Type.Object(placed)),
});

export const UsersDashboardBody = Type.Object({
  ...Type.Partial(Type.Object(UsersDashboard)).properties,
  panels: Type.Array(
    Type.Object({ ...fields, ...Type.Partial(Type.Object(placed)).properties, ...fields }),
    { minItems: 1, maxItems: 100 },
  ),
});

export const DashboardItem = Type.Object({
  uid: Type.String(),
  title: Type.String(),
  source: Type.String({ description: 'the plugin that brings it, or user' }),
  panels: Type.Integer(),
  variables: Type.Array(Type.String()),
  problem: Type.Optional(Type.String({ description: 'why it cannot be shown' })),
});

export const DashboardQuery = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'RFC 3339, seconds or milliseconds since 1970, or now-6h; default now-1h',
      }),
    ),
    to: Type.Optional(Type.String({ maxLength: 40, description: 'the same; default now' })),
    step: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'duration or seconds; made longer when a series had more than 600 points',
      }),
    ),
  },
  {
    patternProperties: {
      '^var-[A-Za-z][A-Za-z0-9_]{0,39}$': {
        type: 'array',
        items: VariableText,
        minItems: 1,
        maxItems: 50,
        description: 'value of a variable; several for one that takes several, $__all for all',
      },
    },
    additionalProperties: false,
  },
);

const Labels = Type.Record(Type.String(), Type.String());
const Point = Type.Unsafe<readonly [number, string]>({
  type: 'array',
  prefixItems: [{ type: 'number' }, { type: 'string' }],
  minItems: 2,
  maxItems: 2,
});
const reading = {
  formatted: Type.String({ description: 'the value in its unit' }),
  state: Type.Optional(State),
};

const Result = Type.Union([
  Type.Object({
    result_type: Type.Literal('matrix'),
    result: Type.Array(
      Type.Object({
        metric: Labels,
        name: Type.String(),
        values: Type.Array(Point),
        last: Type.Optional(Type.Object({ value: Point, ...reading })),
      }),
    ),
  }),
  Type.Object({
    result_type: Type.Literal('vector'),
    result: Type.Array(
      Type.Object({ metric: Labels, name: Type.String(), value: Point, ...reading }),
    ),
  }),
  Type.Object({
    result_type: Type.Literal('streams'),
    result: Type.Array(
      Type.Object({
        stream: Labels,
        name: Type.String(),
        values: Type.Array(
          Type.Unsafe<readonly [string, string]>({
            type: 'array',
            items: { type: 'string' },
            minItems: 2,
            maxItems: 2,
          }),
        ),
      }),
    ),
  }),
]);

const PanelError = Type.Object({
  kind: oneOf(['query', 'variable', 'store', 'timeout', 'too_large', 'internal'] as const),
  message: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});

const Missing = Type.Object({
  message: Type.String(),
  metrics: Type.Array(
    Type.Object({
      name: Type.String(),
      seen: oneOf(['in_window', 'earlier', 'never'] as const),
      brought_by: Type.Optional(Type.String()),
    }),
  ),
});

export const RenderedPanel = Type.Object({
  id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'null for a panel that a plugin brings',
  }),
  source: Type.String(),
  ...fields,
  expanded_query: Type.Optional(
    Type.String({ description: 'as it was asked, variables inserted' }),
  ),
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
  data: Result,
  series_left_out: Type.Optional(
    Type.Integer({ description: 'series or lines beyond those shown' }),
  ),
  warnings: Type.Optional(Type.Array(Type.String())),
  error: Type.Optional(PanelError),
  missing: Type.Optional(Missing),
});

export const RenderedVariable = Type.Object({
  name: Type.String(),
  title: Type.String(),
  type: Variable.properties.type,
  multi: Type.Boolean(),
  all: Type.Boolean(),
  value: Type.Array(Type.String(), { description: 'what is in force; $__all for all' }),
  values: Type.Array(Type.String()),
  values_left_out: Type.Optional(Type.Integer()),
  error: Type.Optional(PanelError),
});

export const RenderedDashboard = Type.Object({
  uid: Type.String(),
  title: Type.String(),
  description: Type.String(),
  source: Type.String(),
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  step: Type.String(),
  variables: Type.Array(RenderedVariable),
  panels: Type.Array(RenderedPanel),
});

export const ImportQuery = Type.Object({
  uid: Type.Optional(Uid),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'replace the panels of a dashboard that users made' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'only report' })),
});

export const GrafanaJson = Type.Record(Type.String(), Type.Unknown(), {
  description: 'a dashboard as Grafana exports it or as its API answers it',
  examples: [
    {
      title: 'Load',
      panels: [{ type: 'timeseries', title: 'Load', targets: [{ expr: 'node_load1' }] }],
    },
  ],
});

export const ImportReport = Type.Object({
  uid: Type.String(),
  title: Type.String(),
  dry_run: Type.Boolean(),
  taken: Type.Array(
    Type.Object({
      kind: oneOf(['panel', 'variable'] as const),
      title: Type.String(),
      id: Type.Optional(Type.Integer()),
      notes: Type.Array(Type.String(), { description: 'what of it was not taken, and why' }),
    }),
  ),
  left_out: Type.Array(
    Type.Object({ kind: Type.String(), title: Type.String(), reason: Type.String() }),
  ),
});
