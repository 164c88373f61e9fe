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
  description: 'PromQL; for a panel of type logs, LogQL that selects lines',
});
const Legend = Type.String({
  maxLength: 200,
  description: 'Name of each series; {{label}} is replaced by the value of that label',
});
const Unit = oneOf(units);
const State = oneOf(['ok', 'warning', 'critical'] as const);

const Thresholds = Type.Array(
  Type.Object({ value: Type.Union([Type.Number(), Type.Null()]), state: State }),
  {
    maxItems: 20,
    description:
      "In ascending order. A value has the state of the last step that it reaches; below the first step it is ok, unless that step's value is null",
  },
);

export const Position = Type.Object(
  {
    x: Type.Integer({ minimum: 0, maximum: columns - 1 }),
    y: Type.Integer({ minimum: 0, maximum: lastRow }),
    w: Type.Integer({ minimum: 1, maximum: columns }),
    h: Type.Integer({ minimum: 1, maximum: 100 }),
  },
  { description: `Grid of ${columns} columns` },
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
        description: 'For type query: label_values(label) or label_values(selector, label)',
      }),
    ),
    regex: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'For type query: values that do not match are left out; the first capture group replaces the value',
      }),
    ),
    values: Type.Optional(
      Type.Array(VariableText, {
        minItems: 1,
        maxItems: 200,
        description: 'For types custom and interval',
      }),
    ),
    default: Type.Optional(VariableText),
    multi: Type.Optional(Type.Boolean({ description: 'Allow several values' })),
    all: Type.Optional(Type.Boolean({ description: 'Allow $__all' })),
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
            'Where to get metrics whose names begin with this prefix, or equal it if it does not end with _; shown while they are missing',
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
    description: 'null for a dashboard of a plugin',
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
  source: Type.String({ description: 'Plugin that provides the dashboard, or user' }),
  panels: Type.Integer(),
  variables: Type.Array(Type.String()),
  problem: Type.Optional(Type.String({ description: 'Why the dashboard cannot be shown' })),
});

export const DashboardQuery = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'RFC 3339, seconds or milliseconds since 1970, or now-6h. Default: now-1h',
      }),
    ),
    to: Type.Optional(
      Type.String({ maxLength: 40, description: 'In the same format as from. Default: now' }),
    ),
    step: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'Duration or seconds; increased if a series would have more than 600 points',
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
        description:
          'Value of a variable; several values if the variable allows them, $__all for all',
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
  formatted: Type.String({ description: 'The value, formatted with its unit' }),
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
    description: 'null for a panel of a plugin',
  }),
  source: Type.String(),
  ...fields,
  expanded_query: Type.Optional(
    Type.String({ description: 'The query as executed, with variables inserted' }),
  ),
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
  data: Result,
  series_left_out: Type.Optional(
    Type.Integer({ description: 'Number of series or lines that are not shown' }),
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
  value: Type.Array(Type.String(), { description: 'Current values; $__all for all' }),
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
    Type.Boolean({ description: 'Replace the panels that users created in an existing dashboard' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Report without importing' })),
});

export const GrafanaJson = Type.Record(Type.String(), Type.Unknown(), {
  description: 'A dashboard as exported from or returned by Grafana',
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
      notes: Type.Array(Type.String(), { description: 'What was not imported, and why' }),
    }),
  ),
  left_out: Type.Array(
    Type.Object({ kind: Type.String(), title: Type.String(), reason: Type.String() }),
  ),
});
