import { Type } from 'typebox';

import { drawing, FieldSettings, PanelQuery } from './drawing.ts';
import { State, Thresholds, Unit } from './field-schema.ts';
import { oneOf } from './one-of.ts';
import { answered, Legend, Position, Variable } from './schema.ts';

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
  color: Type.Optional(Type.String()),
};
const drawn = {
  ref: Type.Optional(Type.String({ description: 'Query that the series comes from' })),
  settings: Type.Optional(FieldSettings),
};

const Result = Type.Union([
  Type.Object({
    result_type: Type.Literal('matrix'),
    result: Type.Array(
      Type.Object({
        metric: Labels,
        name: Type.String(),
        ...drawn,
        values: Type.Array(Point),
        last: Type.Optional(Type.Object({ value: Point, ...reading })),
      }),
    ),
  }),
  Type.Object({
    result_type: Type.Literal('vector'),
    result: Type.Array(
      Type.Object({
        metric: Labels,
        name: Type.String(),
        ...drawn,
        value: Point,
        points: Type.Optional(Type.Array(Point, { description: 'Values for the sparkline' })),
        ...reading,
      }),
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

const Sheet = Type.Object(
  {
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        type: oneOf(['time', 'number', 'string'] as const),
        settings: Type.Optional(FieldSettings),
      }),
    ),
    rows: Type.Array(
      Type.Array(
        Type.Object({
          text: Type.String(),
          value: Type.Optional(Type.Number()),
          state: Type.Optional(State),
          color: Type.Optional(Type.String()),
        }),
      ),
    ),
  },
  { description: 'For type table: the cells after all transformations' },
);

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
    description: 'null for a panel from a plugin',
  }),
  source: Type.String(),
  ...answered,
  expanded_query: Type.Optional(
    Type.String({ description: 'The query as executed, with variables replaced by their values' }),
  ),
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
  ...drawing,
  queries: Type.Optional(
    Type.Array(
      Type.Object({
        ...PanelQuery.properties,
        expanded_query: Type.Optional(Type.String()),
        error: Type.Optional(PanelError),
      }),
    ),
  ),
  row: Type.Optional(
    Type.Integer({
      description: 'For type row: the number of the row, starting at 0; see the rows parameter',
    }),
  ),
  folded: Type.Optional(
    Type.Boolean({ description: 'True for a panel in a collapsed row; its data is not loaded' }),
  ),
  repeated: Type.Optional(
    Type.Object(
      { variable: Type.String(), value: Type.String() },
      { description: 'Value that this copy of the panel is repeated for' },
    ),
  ),
  data: Result,
  table: Type.Optional(Sheet),
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
  texts: Type.Optional(Type.Array(Type.String())),
  hide: Type.Optional(Variable.properties.hide),
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
