import { type Static, Type } from 'typebox';

import { Thresholds, Unit } from './field-schema.ts';
import { oneOf } from './one-of.ts';

/** Ways to make one figure of a series. */
export const calcs = [
  'last',
  'first',
  'mean',
  'min',
  'max',
  'sum',
  'count',
  'range',
  'delta',
  'diff',
] as const;
export type Calc = (typeof calcs)[number];
const CalcName = oneOf(calcs);

const Color = Type.String({
  pattern: '^(#[0-9A-Fa-f]{3,8}|rgba?\\([0-9., %]{1,40}\\)|[a-z]{3,20}|thresholds)$',
  examples: ['#73BF69'],
  description:
    'CSS color, or "thresholds" to use the color of the threshold that the value has reached',
});

export const PanelQuery = Type.Object(
  {
    ref: Type.String({ pattern: '^[A-Za-z0-9_ -]{1,40}$', examples: ['A'] }),
    query: Type.String({ minLength: 1, maxLength: 8_192 }),
    legend: Type.Optional(Type.String({ maxLength: 200 })),
    store: Type.Optional(
      Type.Unsafe<'metrics' | 'logs'>({
        enum: ['metrics', 'logs'],
        description: 'Default: logs for a panel of type logs, else metrics',
      }),
    ),
    at: Type.Optional(
      Type.Unsafe<'range' | 'instant'>({
        enum: ['range', 'instant'],
        description:
          'Values over the time range, or only at its end. Default: whichever the panel type needs',
      }),
    ),
    format: Type.Optional(oneOf(['table', 'heatmap'] as const)),
    hidden: Type.Optional(Type.Boolean({ description: 'Keep the query, but do not run it' })),
    min_step: Type.Optional(
      Type.String({ maxLength: 60, description: 'Shortest step, such as 1m or $resolution' }),
    ),
  },
  { additionalProperties: false },
);
export type PanelQuery = Static<typeof PanelQuery>;

export const ValueMapping = Type.Object(
  {
    value: Type.Optional(Type.String({ maxLength: 200 })),
    from: Type.Optional(Type.Number()),
    to: Type.Optional(Type.Number()),
    pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    special: Type.Optional(oneOf(['null', 'nan', 'null+nan', 'true', 'false', 'empty'] as const)),
    text: Type.Optional(Type.String({ maxLength: 200 })),
    color: Type.Optional(Color),
  },
  {
    additionalProperties: false,
    description: 'Text and color for a value, a range of values, a pattern, or a missing value',
  },
);
export type ValueMapping = Static<typeof ValueMapping>;

const settings = {
  draw: Type.Optional(oneOf(['line', 'bars', 'points'] as const)),
  fill: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Opacity' })),
  line_width: Type.Optional(Type.Number({ minimum: 0, maximum: 20 })),
  line_style: Type.Optional(oneOf(['solid', 'dash', 'dot'] as const)),
  steps: Type.Optional(Type.Boolean({ description: 'Draw steps instead of slopes' })),
  connect: Type.Optional(Type.Boolean({ description: 'Connect points across gaps' })),
  stacking: Type.Optional(oneOf(['none', 'normal', 'percent'] as const)),
  negate: Type.Optional(Type.Boolean({ description: 'Draw the values below zero' })),
  axis: Type.Optional(oneOf(['left', 'right', 'hidden'] as const)),
  axis_label: Type.Optional(Type.String({ maxLength: 100 })),
  log: Type.Optional(
    Type.Number({ minimum: 2, maximum: 10, description: 'Base of the logarithmic axis' }),
  ),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 15 })),
  color: Type.Optional(Color),
  cell: Type.Optional(oneOf(['text', 'background', 'gauge'] as const)),
  thresholds_drawn: Type.Optional(oneOf(['line', 'area', 'none'] as const)),
  no_value: Type.Optional(Type.String({ maxLength: 100 })),
};

export const Display = Type.Object(
  {
    ...settings,
    legend: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(oneOf(['list', 'table', 'hidden'] as const)),
          placement: Type.Optional(oneOf(['bottom', 'right'] as const)),
          calcs: Type.Optional(Type.Array(CalcName, { maxItems: 10 })),
        },
        { additionalProperties: false },
      ),
    ),
    calc: Type.Optional(CalcName),
    all_values: Type.Optional(
      Type.Boolean({ description: 'Show every value instead of one per series' }),
    ),
    sparkline: Type.Optional(Type.Boolean()),
    background: Type.Optional(Type.Boolean({ description: 'Color the background' })),
    colorless: Type.Optional(
      Type.Boolean({ description: 'For type stat: keep the text color, whatever the value' }),
    ),
    text: Type.Optional(oneOf(['auto', 'value', 'name', 'value_and_name', 'none'] as const)),
    orientation: Type.Optional(oneOf(['horizontal', 'vertical'] as const)),
    donut: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, description: 'How values are drawn' },
);
export type Display = Static<typeof Display>;

export const FieldSettings = Type.Object(
  {
    ...settings,
    name: Type.Optional(Type.String({ maxLength: 200 })),
    unit: Type.Optional(Unit),
    thresholds: Type.Optional(Thresholds),
    mappings: Type.Optional(Type.Array(ValueMapping, { maxItems: 200 })),
    hidden: Type.Optional(Type.Boolean()),
    width: Type.Optional(Type.Integer({ minimum: 10, maximum: 2_000 })),
  },
  { additionalProperties: false },
);
export type FieldSettings = Static<typeof FieldSettings>;

export const Override = Type.Object(
  {
    by: oneOf(['name', 'pattern', 'query', 'type', 'value'] as const),
    of: Type.Optional(
      Type.Array(Type.String({ maxLength: 500 }), {
        maxItems: 100,
        description: 'Names, a pattern or query refs, or, for type, number, string or time',
      }),
    ),
    calc: Type.Optional(CalcName),
    op: Type.Optional(oneOf(['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const)),
    value: Type.Optional(Type.Number()),
    set: FieldSettings,
  },
  { additionalProperties: false, description: 'Overrides for some of the series or columns' },
);
export type Override = Static<typeof Override>;

export const Transformation = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z]{1,40}$', examples: ['organize'] }),
    options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    disabled: Type.Optional(Type.Boolean()),
  },
  {
    additionalProperties: false,
    description: 'The Grafana transformation of this name, with the same options',
  },
);
export type Transformation = Static<typeof Transformation>;

export const Repeat = Type.Object(
  {
    variable: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,39}$', examples: ['host'] }),
    direction: Type.Optional(oneOf(['horizontal', 'vertical'] as const)),
    max_per_row: Type.Optional(Type.Integer({ minimum: 1, maximum: 24 })),
  },
  {
    additionalProperties: false,
    description: 'Draw the panel or row once for each value of the variable',
  },
);
export type Repeat = Static<typeof Repeat>;

export const Content = Type.Object(
  {
    mode: oneOf(['markdown', 'html', 'code'] as const),
    text: Type.String({ maxLength: 65_536 }),
  },
  { additionalProperties: false, description: 'For type text: the content of the panel' },
);
export type Content = Static<typeof Content>;

export const PanelLink = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 100 }),
    dashboard: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$',
      examples: ['ops'],
      description: 'Uid of the dashboard that the link opens',
    }),
  },
  {
    additionalProperties: false,
    description: 'Link to another dashboard, which gets the time range and the same variables',
  },
);
export type PanelLink = Static<typeof PanelLink>;

/** Fields of a panel beyond those that every panel has. */
export const drawing = {
  description: Type.Optional(Type.String({ maxLength: 4_000 })),
  queries: Type.Optional(
    Type.Array(PanelQuery, {
      maxItems: 100,
      description:
        'All queries, if there are several or if one needs more than a query text and a legend; query and legend are those of the first one',
    }),
  ),
  display: Type.Optional(Display),
  mappings: Type.Optional(Type.Array(ValueMapping, { maxItems: 200 })),
  overrides: Type.Optional(Type.Array(Override, { maxItems: 200 })),
  transformations: Type.Optional(Type.Array(Transformation, { maxItems: 50 })),
  repeat: Type.Optional(Repeat),
  content: Type.Optional(Content),
  links: Type.Optional(Type.Array(PanelLink, { minItems: 1, maxItems: 10 })),
  collapsed: Type.Optional(
    Type.Boolean({ description: 'For type row: whether its panels are initially hidden' }),
  ),
} as const;

export interface Drawing {
  readonly description?: string;
  readonly queries?: PanelQuery[];
  readonly display?: Display;
  readonly mappings?: ValueMapping[];
  readonly overrides?: Override[];
  readonly transformations?: Transformation[];
  readonly repeat?: Repeat;
  readonly content?: Content;
  readonly links?: PanelLink[];
  readonly collapsed?: boolean;
}

export const drawingKeys = Object.keys(drawing) as readonly (keyof Drawing)[];

/** Returns the fields of a drawing that are there, of whatever has them. */
export const drawingOf = (from: Drawing): Drawing =>
  Object.fromEntries(
    drawingKeys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])),
  );
