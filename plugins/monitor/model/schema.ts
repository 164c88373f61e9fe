import { Type } from 'typebox';

import { drawing } from './drawing.ts';
import { StrictThresholds, Thresholds, Unit } from './field-schema.ts';
import { oneOf } from './one-of.ts';
import { columns, lastRow } from './position.ts';

export const panelTypes = [
  'timeseries',
  'stat',
  'gauge',
  'table',
  'logs',
  'bar_gauge',
  'bar_chart',
  'pie_chart',
  'heatmap',
  'state_timeline',
  'status_history',
  'status',
  'traces',
  'topology',
  'text',
  'row',
] as const;
export type PanelType = (typeof panelTypes)[number];

/** Max panels of one dashboard: far more than anybody reads, and few enough to be kept. */
export const mostPanels = 2_000;

export const Uid = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$', examples: ['ops'] });
const Title = Type.String({ minLength: 1, maxLength: 200 });
const queryText =
  'PromQL; for a panel of type logs, LogQL that selects lines; for one of type traces, TraceQL that finds traces';
const Query = Type.String({ minLength: 1, maxLength: 8_192, description: queryText });
export const Legend = Type.String({
  maxLength: 200,
  description: 'Name of each series; {{label}} is replaced by the value of that label',
});
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
/** Fields that a caller gives; the query of a text, a row or a topology is empty. */
const given = {
  title: Title,
  type: oneOf(panelTypes),
  query: Type.String({ maxLength: 8_192, description: queryText, examples: ['up'] }),
};
/** Fields as they are answered; the query of a text, a row or a topology is empty. */
export const answered = { ...fields, query: Type.String() };

export const PanelDraft = Type.Object({
  dashboard_uid: Uid,
  ...given,
  legend: Type.Optional(Legend),
  unit: Type.Optional(Unit),
  thresholds: Type.Optional(Thresholds),
  position: Type.Optional(Position),
  ...drawing,
});

export const PanelPatch = Type.Partial(PanelDraft, { minProperties: 1 });

export const Panel = Type.Object({
  id: Type.Integer(),
  dashboard_uid: Uid,
  ...answered,
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
  ...drawing,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
});

export const PanelId = Type.Object({ id: Type.Integer({ minimum: 1 }) });
export const PanelQuery = Type.Object({ dashboard_uid: Type.Optional(Uid) });
export const DashboardUid = Type.Object({ uid: Type.String({ minLength: 1, maxLength: 80 }) });

export const mostVariables = 100;
const VariableText = Type.String({ maxLength: 200 });

export const VariableName = Type.String({
  pattern: '^[a-z][A-Za-z0-9_]{0,39}$|^[A-Z][A-Za-z0-9_]{0,39}$',
  examples: ['host'],
});

export const Variable = Type.Object(
  {
    name: VariableName,
    title: Type.Optional(Type.String({ maxLength: 200 })),
    type: oneOf([
      'query',
      'custom',
      'interval',
      'text',
      'constant',
      'datasource',
      'adhoc',
    ] as const),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          'For type query: label_values(label), label_values(selector, label), label_names(), metrics(pattern), query_result(query) or a selector',
      }),
    ),
    store: Type.Optional(oneOf(['metrics', 'logs'] as const)),
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
        description: 'Values of a variable of type custom, interval, constant or datasource',
      }),
    ),
    texts: Type.Optional(
      Type.Array(VariableText, {
        maxItems: 200,
        description: 'Names to show instead of the values',
      }),
    ),
    default: Type.Optional(VariableText),
    multi: Type.Optional(Type.Boolean({ description: 'Allow several values' })),
    all: Type.Optional(Type.Boolean({ description: 'Allow $__all' })),
    all_value: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Pattern that $__all stands for; default: all values',
      }),
    ),
    descending: Type.Optional(Type.Boolean({ description: 'Sort the values in descending order' })),
    hide: Type.Optional(oneOf(['label', 'variable'] as const)),
  },
  { additionalProperties: false },
);

/** A dashboard as it stands in a file. */
export const DashboardFile = Type.Object(
  {
    uid: Uid,
    title: Title,
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    variables: Type.Optional(Type.Array(Variable, { maxItems: mostVariables })),
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
            'How to collect metrics whose names start with this prefix (or match it exactly, if it does not end in _); shown while those metrics are missing',
        },
      ),
    ),
    panels: Type.Array(
      Type.Object(
        {
          ...given,
          legend: Type.Optional(Legend),
          unit: Type.Optional(Unit),
          thresholds: Type.Optional(StrictThresholds),
          position: Type.Optional(
            Type.Object(Position.properties, { additionalProperties: false }),
          ),
          ...drawing,
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: mostPanels },
    ),
  },
  { additionalProperties: false },
);

/** User content of a dashboard, as in a file for svc export and apply. */
const UsersDashboard = {
  title: Type.Union([Title, Type.Null()], {
    description: 'null for a dashboard from a plugin',
  }),
  variables: Type.Array(Variable, { maxItems: mostVariables }),
};
const placed = {
  legend: Legend,
  unit: Unit,
  thresholds: Thresholds,
  position: Position,
};

export const UsersDashboardItem = Type.Object({
  uid: Type.String(),
  ...UsersDashboard,
  panels: Type.Array(Type.Object({ ...answered, ...placed, ...drawing })),
});

const GivenPanel = {
  id: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Panel of this dashboard that this one replaces; otherwise it is a new one',
    }),
  ),
  ...given,
  ...Type.Partial(Type.Object(placed)).properties,
  ...drawing,
};

export const UsersDashboardBody = Type.Object({
  ...Type.Partial(Type.Object(UsersDashboard)).properties,
  panels: Type.Array(Type.Object(GivenPanel), { minItems: 1, maxItems: mostPanels }),
  version: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Version that was changed; the request is refused if there is a later one',
    }),
  ),
});

/** A dashboard as it is being edited, before it is saved. */
export const PreviewBody = Type.Object({
  variables: Type.Array(Variable, { maxItems: mostVariables }),
  panels: Type.Array(Type.Object(GivenPanel), { maxItems: mostPanels }),
});

/** User content with the ids of its panels, for changing it as a whole. */
export const DashboardDraft = Type.Object({
  uid: Type.String(),
  ...UsersDashboard,
  version: Type.Integer({ description: 'Number of the last version; 0 before the first change' }),
  panels: Type.Array(Type.Object({ id: Type.Integer(), ...answered, ...placed, ...drawing })),
});

export const CopyBody = Type.Object({
  uid: Uid,
  title: Title,
});

const versionFields = {
  version: Type.Integer(),
  author: Type.String({ description: 'Who made the change; empty if it is not known' }),
  made_at: Type.String({ format: 'date-time' }),
  deleted: Type.Boolean({ description: 'True if the change deleted the dashboard' }),
};

export const VersionItem = Type.Object({
  ...versionFields,
  panels: Type.Integer(),
});

const ChangeText = Type.String({ description: 'Empty where there was nothing, or is nothing' });

export const VersionDetail = Type.Object({
  ...versionFields,
  against: Type.Integer({ description: 'Version that it is compared with; 0 for none' }),
  changes: Type.Array(
    Type.Object({
      kind: oneOf(['added', 'removed', 'changed', 'moved'] as const),
      what: oneOf(['dashboard', 'panel', 'variable'] as const),
      name: Type.String(),
      fields: Type.Array(
        Type.Object({ field: Type.String(), before: ChangeText, after: ChangeText }),
      ),
    }),
  ),
});

const VersionNumber = Type.Integer({ minimum: 1 });
export const VersionParams = Type.Object({
  uid: Type.String({ minLength: 1, maxLength: 80 }),
  version: VersionNumber,
});
export const VersionQuery = Type.Object({
  against: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Version to compare with; default: the one before',
    }),
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
        description:
          'An RFC 3339 timestamp, Unix time in seconds or milliseconds, or an offset such as now-6h. Default: now-1h',
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
    rows: Type.Optional(
      Type.String({
        maxLength: 2_000,
        pattern: '^(all|saved|none|\\d{1,4}(,\\d{1,4})*)$',
        examples: ['saved'],
        description:
          'Rows to load data for: all, none, saved (those that are not collapsed), or row numbers. Default: all',
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
          'Value of a variable; several values if the variable allows it, or $__all for all values',
      },
    },
    additionalProperties: false,
  },
);

export const ImportQuery = Type.Object({
  uid: Type.Optional(Uid),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'Replace the panels that users created in an existing dashboard' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only report what would be imported' })),
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
